{{/* Which cluster sends its requests to the webhooks. */}}
{{- define "rsyslog-relp.mode" -}}
{{- $mode := "standalone" -}}
{{- $mode -}}
{{- end -}}

{{/* Who provides for the serving certificate; empty: no webhook is served. */}}
{{- define "rsyslog-relp.provision" -}}
{{- if include "rsyslog-relp.serves" . -}}
{{- $provision := (include "rsyslog-relp.facts" . | fromJson).server.webhooks.tls.provision -}}
{{- if not (has $provision (list "self" "cert-manager" "files")) -}}
{{- fail (printf "config.server.webhooks.tls.provision must be one of self, cert-manager, files, got %q" (toString $provision)) -}}
{{- end -}}
{{ $provision }}
{{- end -}}
{{- end -}}

{{/* The registration objects by kind, with all webhooks or, where none is enabled, an empty list, as JSON. */}}
{{- define "rsyslog-relp.registered" -}}
{{- $facts := include "rsyslog-relp.facts" . | fromJson -}}
{{- $bundle := .Values.webhooks.caBundle -}}
{{- $text := .Files.Get "files/webhooks.json" -}}
{{- $text = replace "release-namespace" .Release.Namespace $text -}}
{{- $overrides := .Values.webhooks.overrides -}}
{{- $names := list -}}
{{- $objects := dict -}}
{{- range $registration := get ($text | fromJson) (include "rsyslog-relp.mode" .) -}}
{{- $object := default (dict "metadata" $registration.metadata "webhooks" (list)) (get $objects $registration.kind) -}}
{{- $objects = set $objects $registration.kind $object -}}
{{- if include "rsyslog-relp.on" (dict "facts" $facts "when" $registration.when) -}}
{{- $entry := $registration.entry -}}
{{- if $bundle -}}
{{- $entry = set $entry "clientConfig" (set $entry.clientConfig "caBundle" ($bundle | b64enc)) -}}
{{- end -}}
{{- $usual := $entry.failurePolicy -}}
{{- range $name := list "*" $entry.name -}}
{{- with get $overrides $name -}}
{{- $entry = include "rsyslog-relp.overridden" (dict "entry" $entry "override" .) | fromJson -}}
{{- end -}}
{{- end -}}
{{- if and (eq $usual "Ignore") (ne $entry.failurePolicy "Ignore") -}}
{{- fail (printf "webhooks.overrides: failurePolicy of the webhook \"%s\" must be Ignore, as it is asked about pods without which the process does not run" $entry.name) -}}
{{- end -}}
{{- $names = append $names $entry.name -}}
{{- $objects = set $objects $registration.kind (set $object "webhooks" (append $object.webhooks $entry)) -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := $overrides -}}
{{- if not (has $name (append $names "*")) -}}
{{- fail (printf "webhooks.overrides: no webhook \"%s\" is registered, %s" $name (ternary (printf "only %s" ($names | sortAlpha | join ", ")) "as no webhook is enabled" (gt (len $names) 0))) -}}
{{- end -}}
{{- end -}}
{{- $objects | toRawJson -}}
{{- end -}}

{{/* An entry of a registration on other terms, as JSON; selectors are narrowed, never widened: entry, override. */}}
{{- define "rsyslog-relp.overridden" -}}
{{- $entry := .entry -}}
{{- range $field := list "timeoutSeconds" "failurePolicy" -}}
{{- with get $.override $field -}}
{{- $entry = set $entry $field . -}}
{{- end -}}
{{- end -}}
{{- range $field := list "namespaceSelector" "objectSelector" -}}
{{- with get $.override $field -}}
{{- $own := default (dict) (get $entry $field) -}}
{{- $expressions := default (list) $own.matchExpressions -}}
{{- range $key, $value := .matchLabels -}}
{{- $expressions = append $expressions (dict "key" $key "operator" "In" "values" (list $value)) -}}
{{- end -}}
{{- $entry = set $entry $field (set $own "matchExpressions" (concat $expressions (default (list) .matchExpressions))) -}}
{{- end -}}
{{- end -}}
{{- $entry | toRawJson -}}
{{- end -}}

{{/* What a process reads that registers its webhooks itself, as JSON; empty: it does not. */}}
{{- define "rsyslog-relp.registrations-file" -}}
{{- if eq "self" (include "rsyslog-relp.provision" .) -}}
{{- $items := list -}}
{{- range $kind, $object := include "rsyslog-relp.registered" . | fromJson -}}
{{- $named := dict "apiVersion" "admissionregistration.k8s.io/v1" "kind" $kind "metadata" (dict "name" $object.metadata.name) -}}
{{- $items = append $items (set $named "webhooks" $object.webhooks) -}}
{{- end -}}
{{- dict "apiVersion" "v1" "kind" "List" "items" $items | toRawJson -}}
{{- end -}}
{{- end -}}
