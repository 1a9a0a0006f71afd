{{/* What all objects are called. */}}
{{- define "[[ component ]].name" -}}
[% if name_prefix %]{{ .Values.namePrefix }}[% endif %][[ process ]]
{{- end -}}

{{/* The label that selects the pods. It never changes, as no Deployment can change it. */}}
{{- define "[[ component ]].selector" -}}
app: {{ include "[[ component ]].name" . }}
{{- end -}}

{{/* The labels of all objects and pods. */}}
{{- define "[[ component ]].labels" -}}
{{- $labels := dict "app.kubernetes.io/name" "[[ process ]]" "app.kubernetes.io/component" "[[ component ]]" -}}
{{- $labels = set $labels "app.kubernetes.io/instance" (include "[[ component ]].name" .) -}}
{{- $labels = set $labels "app.kubernetes.io/part-of" "hedgerow" -}}
{{- $labels = set $labels "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- mergeOverwrite $labels .Values.commonLabels (include "[[ component ]].selector" . | fromYaml) | toYaml -}}
{{- end -}}

{{/* Labels and annotations of an object: root, its own labels and annotations, which count more than those of all. */}}
{{- define "[[ component ]].marks" -}}
labels:
  {{- mergeOverwrite (include "[[ component ]].labels" .root | fromYaml) (default (dict) .labels) | toYaml | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) (default (dict) .annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The metadata of an object in the namespace of the release: root, its own labels and annotations. */}}
{{- define "[[ component ]].metadata" -}}
name: {{ include "[[ component ]].name" .root }}
namespace: {{ .root.Release.Namespace }}
{{ include "[[ component ]].marks" . }}
{{- end -}}

{{/* The image of the pods. */}}
{{- define "[[ component ]].image" -}}
{{- with .Values.image.registry }}{{ . }}/{{ end -}}
{{- .Values.image.repository -}}
{{- if .Values.image.digest -}}
@{{ .Values.image.digest }}
{{- else -}}
:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* What roles are called: a name that no other release in the cluster uses. */}}
{{- define "[[ component ]].role" -}}
{{- if .what -}}
{{ include "[[ component ]].name" .root }}:{{ .what }}:{{ .root.Release.Namespace }}
{{- else -}}
{{ include "[[ component ]].name" .root }}:{{ .root.Release.Namespace }}
{{- end -}}
{{- end -}}
