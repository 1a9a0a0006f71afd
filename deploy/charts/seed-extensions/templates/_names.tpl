{{/* What all objects are called. */}}
{{- define "seed-extensions.name" -}}
{{ .Values.namePrefix }}hedgerow-seed-extensions
{{- end -}}

{{/* The label that selects the pods. It never changes, as no Deployment can change it. */}}
{{- define "seed-extensions.selector" -}}
app: {{ include "seed-extensions.name" . }}
{{- end -}}

{{/* The labels of all objects and pods. */}}
{{- define "seed-extensions.labels" -}}
{{- $labels := dict "app.kubernetes.io/name" "hedgerow-seed-extensions" "app.kubernetes.io/component" "seed-extensions" -}}
{{- $labels = set $labels "app.kubernetes.io/instance" (include "seed-extensions.name" .) -}}
{{- $labels = set $labels "app.kubernetes.io/part-of" "hedgerow" -}}
{{- $labels = set $labels "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- mergeOverwrite $labels .Values.commonLabels (include "seed-extensions.selector" . | fromYaml) | toYaml -}}
{{- end -}}

{{/* Labels and annotations of an object: root, its own labels and annotations, which count more than those of all. */}}
{{- define "seed-extensions.marks" -}}
labels:
  {{- mergeOverwrite (include "seed-extensions.labels" .root | fromYaml) (default (dict) .labels) | toYaml | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) (default (dict) .annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The metadata of an object in the namespace of the release: root, its own labels and annotations. */}}
{{- define "seed-extensions.metadata" -}}
name: {{ include "seed-extensions.name" .root }}
namespace: {{ .root.Release.Namespace }}
{{ include "seed-extensions.marks" . }}
{{- end -}}

{{/* The image of the pods. */}}
{{- define "seed-extensions.image" -}}
{{- with .Values.image.registry }}{{ . }}/{{ end -}}
{{- .Values.image.repository -}}
{{- if .Values.image.digest -}}
@{{ .Values.image.digest }}
{{- else -}}
:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* What roles are called: a name that no other release in the cluster uses. */}}
{{- define "seed-extensions.role" -}}
{{- if .what -}}
{{ include "seed-extensions.name" .root }}:{{ .what }}:{{ .root.Release.Namespace }}
{{- else -}}
{{ include "seed-extensions.name" .root }}:{{ .root.Release.Namespace }}
{{- end -}}
{{- end -}}
