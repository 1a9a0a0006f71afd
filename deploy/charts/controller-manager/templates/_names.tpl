{{/* What all objects are called. */}}
{{- define "controller-manager.name" -}}
hedgerow-controller-manager
{{- end -}}

{{/* The metadata of an object in the namespace of the release. */}}
{{- define "controller-manager.metadata" -}}
name: {{ include "controller-manager.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  app: {{ include "controller-manager.name" . }}
{{- end -}}

{{/* What roles are called: a name that no other release in the cluster uses. */}}
{{- define "controller-manager.role" -}}
{{- if .what -}}
{{ include "controller-manager.name" .root }}:{{ .what }}:{{ .root.Release.Namespace }}
{{- else -}}
{{ include "controller-manager.name" .root }}:{{ .root.Release.Namespace }}
{{- end -}}
{{- end -}}
