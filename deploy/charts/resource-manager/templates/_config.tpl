{{/* An object with defaults for what it leaves out or leaves empty, as JSON: stated, defaults. */}}
{{- define "resource-manager.filled" -}}
{{- $filled := dict -}}
{{- if kindIs "map" .stated -}}
{{- $filled = deepCopy .stated -}}
{{- end -}}
{{- range $name, $default := .defaults -}}
{{- $stated := get $filled $name -}}
{{- if kindIs "map" $default -}}
{{- $filled = set $filled $name (include "resource-manager.filled" (dict "stated" $stated "defaults" $default) | fromJson) -}}
{{- else if not (kindIs "bool" $stated) -}}
{{- $filled = set $filled $name (default $default $stated) -}}
{{- end -}}
{{- end -}}
{{- $filled | toRawJson -}}
{{- end -}}

{{/* The component configuration as JSON, with what only the release knows, such as the namespace of the Lease. */}}
{{- define "resource-manager.config" -}}
{{- $text := .Files.Get "files/configuration.json" | replace "release-namespace" .Release.Namespace -}}
{{- $text = replace "name-prefix-gardener-resource-manager" (include "resource-manager.name" .) $text -}}
{{- $known := $text | fromJson -}}
{{- include "resource-manager.filled" (dict "stated" .Values.config "defaults" $known.completion) -}}
{{- end -}}

{{/* What objects depend on, as JSON: the component configuration with its defaults, and what follows from it. */}}
{{- define "resource-manager.facts" -}}
{{- $known := .Files.Get "files/configuration.json" | fromJson -}}
{{- $stated := include "resource-manager.config" . | fromJson -}}
{{- $facts := include "resource-manager.filled" (dict "stated" $stated "defaults" $known.defaults) | fromJson -}}
{{- $elects := $facts.leaderElection.leaderElect -}}
{{- $asks := has (default "" $facts.controllers.clusterID) (list "<cluster>" "<default>") -}}
{{- $together := kindIs "invalid" .Values.config.targetClientConnection -}}
{{- $facts = set $facts "installation" (dict "elects" $elects "asksForIdentity" $asks "isItsOwnTarget" $together) -}}
{{- $facts | toRawJson -}}
{{- end -}}

{{/* The value of a field, by its path; empty: it is not set. */}}
{{- define "resource-manager.field" -}}
{{- $value := .facts -}}
{{- range splitList "." .path -}}
{{- if kindIs "map" $value -}}
{{- $value = get $value . -}}
{{- else -}}
{{- $value = "" -}}
{{- end -}}
{{- end -}}
{{- if kindIs "map" $value -}}
{{- if $value -}}
true
{{- end -}}
{{- else if $value -}}
{{ $value }}
{{- end -}}
{{- end -}}

{{/* Whether a switch is on: of each of its groups one field is set. */}}
{{- define "resource-manager.on" -}}
{{- $all := true -}}
{{- range $group := .when -}}
{{- $any := false -}}
{{- range $group -}}
{{- if include "resource-manager.field" (dict "facts" $.facts "path" .) -}}
{{- $any = true -}}
{{- end -}}
{{- end -}}
{{- $all = and $all $any -}}
{{- end -}}
{{- if $all -}}
true
{{- end -}}
{{- end -}}

{{/* A text, or the value of the field that it names as $(PATH). */}}
{{- define "resource-manager.resolved" -}}
{{- if hasPrefix "$(" .text -}}
{{ include "resource-manager.field" (dict "facts" .facts "path" (.text | trimPrefix "$(" | trimSuffix ")")) }}
{{- else -}}
{{ .text }}
{{- end -}}
{{- end -}}

{{/* The namespaces that a connection is restricted to, as a JSON list; none: it is not restricted. */}}
{{- define "resource-manager.namespaces" -}}
{{- $connection := default (dict) . -}}
{{- $namespaces := default (list) $connection.namespaces -}}
{{- if not (kindIs "invalid" $connection.namespace) -}}
{{- $namespaces = list $connection.namespace -}}
{{- end -}}
{{- if has "" $namespaces -}}
{{- $namespaces = list -}}
{{- end -}}
{{- $namespaces | uniq | toRawJson -}}
{{- end -}}

{{/* Whether another cluster is looked after than the one of the release. */}}
{{- define "resource-manager.separate" -}}
{{- if not (kindIs "invalid" .Values.config.targetClientConnection) -}}
true
{{- end -}}
{{- end -}}

{{/* Whether any webhook is enabled. */}}
{{- define "resource-manager.serves" -}}
{{- range $section := (include "resource-manager.facts" . | fromJson).webhooks -}}
{{- if and (kindIs "map" $section) (eq (get $section "enabled" | toString) "true") -}}
true
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether a step of the installation is rendered; values that cannot work end the rendering. */}}
{{- define "resource-manager.part" -}}
{{- $may := .root.Values.managedResources -}}
{{- if not (or $may.clusterAdmin $may.rules) -}}
{{- fail "values: managedResources: nothing says what ManagedResources may deliver: set managedResources.clusterAdmin to true for everything, or list in managedResources.rules what they may" -}}
{{- end -}}
{{- if and $may.clusterAdmin (or $may.rules (not $may.clusterWide)) -}}
{{- fail "values: managedResources: clusterAdmin grants everything, everywhere: leave out rules and clusterWide" -}}
{{- end -}}
{{- $separate := include "resource-manager.separate" .root -}}
{{- $target := .root.Values.target -}}
{{- if and $separate (not $target.kubeconfigSecret) -}}
{{- fail "target.kubeconfigSecret must name a Secret, as the component configuration has a targetClientConnection" -}}
{{- end -}}
{{- if and (not $separate) $target.kubeconfigSecret -}}
{{- fail "target.kubeconfigSecret leads nowhere, as the component configuration has no targetClientConnection" -}}
{{- end -}}
{{- if and (not $separate) (has .root.Values.part (list "target" "access")) -}}
{{- fail "the component configuration has no targetClientConnection, so that there is no separate target cluster" -}}
{{- end -}}
{{- if eq "self" (include "resource-manager.provision" .root) -}}
{{- $own := (include "resource-manager.config" .root | fromJson).server.webhooks.tls.self -}}
{{- $known := (.root.Files.Get "files/configuration.json" | fromJson).completion.server.webhooks.tls.self -}}
{{- if ne $own.registrations $known.registrations -}}
{{- fail "config.server.webhooks.tls.self.registrations must be left out, as the installation mounts the file" -}}
{{- end -}}
{{- if ne $own.secretNamespace .root.Release.Namespace -}}
{{- fail "config.server.webhooks.tls.self.secretNamespace must be left out, as the Secret is beside the process" -}}
{{- end -}}
{{- end -}}
{{- if and (eq "cert-manager" (include "resource-manager.provision" .root)) $separate (not .root.Values.webhooks.caBundle) -}}
{{- fail "webhooks.caBundle must name the authorities, as cert-manager cannot do so in a separate target cluster; with server.webhooks.tls.provision: self the process does" -}}
{{- end -}}
{{- $source := coalesce .root.Values.config.sourceClientConnection -}}
{{- if $source -}}
{{- if $source.kubeconfig -}}
{{- fail "the component configuration has a kubeconfig for the cluster of the process, which nothing mounts: leave it out, as pods have the credentials of their ServiceAccount" -}}
{{- end -}}
{{- end -}}
{{- $_ := include "resource-manager.registered" .root -}}
{{- $server := (include "resource-manager.facts" .root | fromJson).server -}}
{{- if regexMatch "^(127\\.|localhost|::1)" (default "" $server.healthProbes.bindAddress) -}}
{{- fail "config.server.healthProbes.bindAddress must not be a loopback address, as kubelets ask pods at their own addresses" -}}
{{- end -}}
{{- $steps := dict "process" "source" "access" "target" "registrations" (ternary "target" "source" (ne $separate "")) -}}
{{- if has .root.Values.part (list "all" .step (get $steps .step)) -}}
{{- if or (ne .step "access") $separate -}}
true
{{- end -}}
{{- end -}}
{{- end -}}
