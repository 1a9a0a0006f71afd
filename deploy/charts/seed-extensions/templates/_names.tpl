{{/* What all objects are called. */}}
{{- define "seed-extensions.name" -}}
{{ .Values.namePrefix }}hedgerow-seed-extensions
{{- end -}}

{{/* The metadata of an object in the namespace of the release. */}}
{{- define "seed-extensions.metadata" -}}
name: {{ include "seed-extensions.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  app: {{ include "seed-extensions.name" . }}
{{- end -}}

{{/* What roles are called: a name that no other release in the cluster uses. */}}
{{- define "seed-extensions.role" -}}
{{- if .what -}}
{{ include "seed-extensions.name" .root }}:{{ .what }}:{{ .root.Release.Namespace }}
{{- else -}}
{{ include "seed-extensions.name" .root }}:{{ .root.Release.Namespace }}
{{- end -}}
{{- end -}}
