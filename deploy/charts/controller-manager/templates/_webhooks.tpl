{{/* The registration objects for one cluster: root, the mode. */}}
{{- define "controller-manager.registrations" -}}
{{- $root := .root -}}
{{- $facts := include "controller-manager.facts" .root | fromJson -}}
{{- $bundle := .root.Values.webhooks.caBundle -}}
{{- $text := .root.Files.Get "files/webhooks.json" -}}
{{- $text = replace "release-namespace" .root.Release.Namespace $text -}}
{{- $objects := dict -}}
{{- range $registration := get ($text | fromJson) .mode -}}
{{- if include "controller-manager.on" (dict "facts" $facts "when" $registration.when) -}}
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
  {{- include "controller-manager.marks" (dict "root" $root "labels" $object.metadata.labels) | nindent 2 }}
webhooks:
{{ $object.webhooks | toYaml }}
{{- end }}
{{- end -}}
