{{/* The registration objects for one cluster: root, the mode. */}}
{{- define "seed-extensions.registrations" -}}
{{- $root := .root -}}
{{- $facts := include "seed-extensions.facts" .root | fromJson -}}
{{- $bundle := .root.Values.webhooks.caBundle -}}
{{- $text := .root.Files.Get "files/webhooks.json" -}}
{{- $text = replace "name-prefix-hedgerow-seed-extensions" (include "seed-extensions.name" .root) $text -}}
{{- $text = replace "release-namespace" .root.Release.Namespace $text -}}
{{- $objects := dict -}}
{{- range $registration := get ($text | fromJson) .mode -}}
{{- if include "seed-extensions.on" (dict "facts" $facts "when" $registration.when) -}}
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
metadata: {{ $object.metadata | toRawJson }}
webhooks:
{{ $object.webhooks | toYaml }}
{{- end }}
{{- end -}}
