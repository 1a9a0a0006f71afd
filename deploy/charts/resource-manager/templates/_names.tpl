{{/* What all objects are called. */}}
{{- define "resource-manager.name" -}}
{{ .Values.namePrefix }}gardener-resource-manager
{{- end -}}

{{/* The label that selects the pods. It never changes, as no Deployment can change it. */}}
{{- define "resource-manager.selector" -}}
app: {{ include "resource-manager.name" . }}
{{- end -}}

{{/* The labels of all objects and pods. */}}
{{- define "resource-manager.labels" -}}
{{- $labels := dict "app.kubernetes.io/name" "gardener-resource-manager" "app.kubernetes.io/component" "resource-manager" -}}
{{- $labels = set $labels "app.kubernetes.io/instance" (include "resource-manager.name" .) -}}
{{- $labels = set $labels "app.kubernetes.io/part-of" "hedgerow" -}}
{{- $labels = set $labels "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- mergeOverwrite $labels .Values.commonLabels (include "resource-manager.selector" . | fromYaml) | toYaml -}}
{{- end -}}

{{/* Labels and annotations of an object: root, its own labels and annotations, which count more than those of all. */}}
{{- define "resource-manager.marks" -}}
labels:
  {{- mergeOverwrite (include "resource-manager.labels" .root | fromYaml) (default (dict) .labels) | toYaml | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) (default (dict) .annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The metadata of an object in the namespace of the release: root, its own labels and annotations. */}}
{{- define "resource-manager.metadata" -}}
name: {{ include "resource-manager.name" .root }}
namespace: {{ .root.Release.Namespace }}
{{ include "resource-manager.marks" . }}
{{- end -}}

{{/* The image of the pods. */}}
{{- define "resource-manager.image" -}}
{{- with .Values.image.registry }}{{ . }}/{{ end -}}
{{- .Values.image.repository -}}
{{- if .Values.image.digest -}}
@{{ .Values.image.digest }}
{{- else -}}
:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* What roles are called: a name that no other release in the cluster uses. */}}
{{- define "resource-manager.role" -}}
{{- if .what -}}
{{ include "resource-manager.name" .root }}:{{ .what }}:{{ .root.Release.Namespace }}
{{- else -}}
{{ include "resource-manager.name" .root }}:{{ .root.Release.Namespace }}
{{- end -}}
{{- end -}}
