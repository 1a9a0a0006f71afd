{{/* What all objects are called. */}}
{{- define "controller-manager.name" -}}
hedgerow-controller-manager
{{- end -}}

{{/* The label that selects the pods. It never changes, as no Deployment can change it. */}}
{{- define "controller-manager.selector" -}}
app: {{ include "controller-manager.name" . }}
{{- end -}}

{{/* The labels of all objects and pods. */}}
{{- define "controller-manager.labels" -}}
{{- $labels := dict "app.kubernetes.io/name" "hedgerow-controller-manager" "app.kubernetes.io/component" "controller-manager" -}}
{{- $labels = set $labels "app.kubernetes.io/instance" (include "controller-manager.name" .) -}}
{{- $labels = set $labels "app.kubernetes.io/part-of" "hedgerow" -}}
{{- $labels = set $labels "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- mergeOverwrite $labels .Values.commonLabels (include "controller-manager.selector" . | fromYaml) | toYaml -}}
{{- end -}}

{{/* Labels and annotations of an object: root, its own labels and annotations, which count more than those of all. */}}
{{- define "controller-manager.marks" -}}
labels:
  {{- mergeOverwrite (include "controller-manager.labels" .root | fromYaml) (default (dict) .labels) | toYaml | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) (default (dict) .annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The metadata of an object in the namespace of the release: root, its own labels and annotations. */}}
{{- define "controller-manager.metadata" -}}
name: {{ include "controller-manager.name" .root }}
namespace: {{ .root.Release.Namespace }}
{{ include "controller-manager.marks" . }}
{{- end -}}

{{/* The image of the pods. */}}
{{- define "controller-manager.image" -}}
{{- with .Values.image.registry }}{{ . }}/{{ end -}}
{{- .Values.image.repository -}}
{{- if .Values.image.digest -}}
@{{ .Values.image.digest }}
{{- else -}}
:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* What roles are called: a name that no other release in the cluster uses. */}}
{{- define "controller-manager.role" -}}
{{- if .what -}}
{{ include "controller-manager.name" .root }}:{{ .what }}:{{ .root.Release.Namespace }}
{{- else -}}
{{ include "controller-manager.name" .root }}:{{ .root.Release.Namespace }}
{{- end -}}
{{- end -}}
