[% if webhooks %]
{{/* The registration objects for one cluster: root, the mode. */}}
{{- define "[[ component ]].registrations" -}}
{{- $root := .root -}}
{{- $facts := include "[[ component ]].facts" .root | fromJson -}}
{{- $bundle := .root.Values.webhooks.caBundle -}}
{{- $text := .root.Files.Get "files/webhooks.json" -}}
[% if name_prefix %]
{{- $text = replace "name-prefix-[[ process ]]" (include "[[ component ]].name" .root) $text -}}
[% endif %]
{{- $text = replace "release-namespace" .root.Release.Namespace $text -}}
{{- $objects := dict -}}
{{- range $registration := get ($text | fromJson) .mode -}}
{{- if include "[[ component ]].on" (dict "facts" $facts "when" $registration.when) -}}
{{- $object := default (dict "metadata" $registration.metadata "webhooks" (list)) (get $objects $registration.kind) -}}
{{- $entry := $registration.entry -}}
{{- if $bundle -}}
{{- $entry = set $entry "clientConfig" (set $entry.clientConfig "caBundle" ($bundle | b64enc)) -}}
{{- end -}}
{{- $objects = set $objects $registration.kind (set $object "webhooks" (append $object.webhooks $entry)) -}}
{{- end -}}
{{- end -}}
{{- range $kind, $object := $objects }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ $object.metadata.name }}
  {{- include "[[ component ]].marks" (dict "root" $root "labels" $object.metadata.labels) | nindent 2 }}
webhooks:
{{ $object.webhooks | toYaml }}
{{- end }}
{{- end -}}
[% endif %]
