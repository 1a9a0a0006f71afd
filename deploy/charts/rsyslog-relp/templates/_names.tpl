{{/* What all objects are called. */}}
{{- define "rsyslog-relp.name" -}}
gardener-extension-shoot-rsyslog-relp
{{- end -}}

{{/* The metadata of an object in the namespace of the release. */}}
{{- define "rsyslog-relp.metadata" -}}
name: {{ include "rsyslog-relp.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  app: {{ include "rsyslog-relp.name" . }}
{{- end -}}

{{/* What roles are called: a name that no other release in the cluster uses. */}}
{{- define "rsyslog-relp.role" -}}
{{- if .what -}}
{{ include "rsyslog-relp.name" .root }}:{{ .what }}:{{ .root.Release.Namespace }}
{{- else -}}
{{ include "rsyslog-relp.name" .root }}:{{ .root.Release.Namespace }}
{{- end -}}
{{- end -}}
