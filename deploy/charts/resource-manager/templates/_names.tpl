{{/* What all objects are called. */}}
{{- define "resource-manager.name" -}}
{{ .Values.namePrefix }}gardener-resource-manager
{{- end -}}

{{/* The metadata of an object in the namespace of the release. */}}
{{- define "resource-manager.metadata" -}}
name: {{ include "resource-manager.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  app: {{ include "resource-manager.name" . }}
{{- end -}}

{{/* What roles are called: a name that no other release in the cluster uses. */}}
{{- define "resource-manager.role" -}}
{{- if .what -}}
{{ include "resource-manager.name" .root }}:{{ .what }}:{{ .root.Release.Namespace }}
{{- else -}}
{{ include "resource-manager.name" .root }}:{{ .root.Release.Namespace }}
{{- end -}}
{{- end -}}
