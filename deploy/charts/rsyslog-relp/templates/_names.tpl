{{/* What all objects are called. */}}
{{- define "rsyslog-relp.name" -}}
gardener-extension-shoot-rsyslog-relp
{{- end -}}

{{/* The label that selects the pods. It never changes, as no Deployment can change it. */}}
{{- define "rsyslog-relp.selector" -}}
app: {{ include "rsyslog-relp.name" . }}
{{- end -}}

{{/* The labels of all objects and pods. */}}
{{- define "rsyslog-relp.labels" -}}
{{- $labels := dict "app.kubernetes.io/name" "gardener-extension-shoot-rsyslog-relp" "app.kubernetes.io/component" "rsyslog-relp" -}}
{{- $labels = set $labels "app.kubernetes.io/instance" (include "rsyslog-relp.name" .) -}}
{{- $labels = set $labels "app.kubernetes.io/part-of" "hedgerow" -}}
{{- $labels = set $labels "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- mergeOverwrite $labels .Values.commonLabels (include "rsyslog-relp.selector" . | fromYaml) | toYaml -}}
{{- end -}}

{{/* Labels and annotations of an object: root, its own labels and annotations, which count more than those of all. */}}
{{- define "rsyslog-relp.marks" -}}
labels:
  {{- mergeOverwrite (include "rsyslog-relp.labels" .root | fromYaml) (default (dict) .labels) | toYaml | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) (default (dict) .annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The metadata of an object in the namespace of the release: root, its own labels and annotations. */}}
{{- define "rsyslog-relp.metadata" -}}
name: {{ include "rsyslog-relp.name" .root }}
namespace: {{ .root.Release.Namespace }}
{{ include "rsyslog-relp.marks" . }}
{{- end -}}

{{/* The image of the pods. */}}
{{- define "rsyslog-relp.image" -}}
{{- with .Values.image.registry }}{{ . }}/{{ end -}}
{{- .Values.image.repository -}}
{{- if .Values.image.digest -}}
@{{ .Values.image.digest }}
{{- else -}}
:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* What roles are called: a name that no other release in the cluster uses. */}}
{{- define "rsyslog-relp.role" -}}
{{- if .what -}}
{{ include "rsyslog-relp.name" .root }}:{{ .what }}:{{ .root.Release.Namespace }}
{{- else -}}
{{ include "rsyslog-relp.name" .root }}:{{ .root.Release.Namespace }}
{{- end -}}
{{- end -}}
