{{/* What all objects are called. */}}
{{- define "[[ component ]].name" -}}
[% if name_prefix %]{{ .Values.namePrefix }}[% endif %][[ process ]]
{{- end -}}

{{/* The metadata of an object in the namespace of the release. */}}
{{- define "[[ component ]].metadata" -}}
name: {{ include "[[ component ]].name" . }}
namespace: {{ .Release.Namespace }}
labels:
  app: {{ include "[[ component ]].name" . }}
{{- end -}}

{{/* What roles are called: a name that no other release in the cluster uses. */}}
{{- define "[[ component ]].role" -}}
{{- if .what -}}
{{ include "[[ component ]].name" .root }}:{{ .what }}:{{ .root.Release.Namespace }}
{{- else -}}
{{ include "[[ component ]].name" .root }}:{{ .root.Release.Namespace }}
{{- end -}}
{{- end -}}
