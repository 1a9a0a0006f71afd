{{/* An object with defaults for what it leaves out or leaves empty, as JSON: stated, defaults. */}}
{{- define "[[ component ]].filled" -}}
{{- $filled := dict -}}
{{- if kindIs "map" .stated -}}
{{- $filled = deepCopy .stated -}}
{{- end -}}
{{- range $name, $default := .defaults -}}
{{- $stated := get $filled $name -}}
{{- if kindIs "map" $default -}}
{{- $filled = set $filled $name (include "[[ component ]].filled" (dict "stated" $stated "defaults" $default) | fromJson) -}}
{{- else if not (kindIs "bool" $stated) -}}
{{- $filled = set $filled $name (default $default $stated) -}}
{{- end -}}
{{- end -}}
{{- $filled | toRawJson -}}
{{- end -}}

{{/* The component configuration as JSON, with what only the release knows, such as the namespace of the Lease. */}}
{{- define "[[ component ]].config" -}}
{{- $text := .Files.Get "files/configuration.json" | replace "release-namespace" .Release.Namespace -}}
[% if name_prefix %]
{{- $text = replace "name-prefix-[[ process ]]" (include "[[ component ]].name" .) $text -}}
[% endif %]
{{- $known := $text | fromJson -}}
{{- include "[[ component ]].filled" (dict "stated" .Values.config "defaults" $known.completion) -}}
{{- end -}}

{{/* What objects depend on, as JSON: the component configuration with its defaults, and what follows from it. */}}
{{- define "[[ component ]].facts" -}}
{{- $known := .Files.Get "files/configuration.json" | fromJson -}}
{{- $stated := include "[[ component ]].config" . | fromJson -}}
{{- $facts := include "[[ component ]].filled" (dict "stated" $stated "defaults" $known.defaults) | fromJson -}}
{{- $elects := $facts.leaderElection.leaderElect -}}
[% if for_seed %]
{{- if eq $facts.leaderElection.resourceName "[[ process ]]" -}}
{{- with (default (dict) (default (dict) $facts.seedConfig).metadata).name -}}
{{- $_ := set $facts.leaderElection "resourceName" (printf "[[ process ]]-%s" .) -}}
{{- end -}}
{{- end -}}
[% endif %]
[% if cluster_id %]
{{- $asks := has (default "" $facts.controllers.clusterID) (list "<cluster>" "<default>") -}}
{{- $together := kindIs "invalid" .Values.config.targetClientConnection -}}
{{- $facts = set $facts "installation" (dict "elects" $elects "asksForIdentity" $asks "isItsOwnTarget" $together) -}}
[% elif target %]
{{- $together := kindIs "invalid" .Values.config.targetClientConnection -}}
{{- $facts = set $facts "installation" (dict "elects" $elects "isItsOwnTarget" $together) -}}
[% else %]
{{- $facts = set $facts "installation" (dict "elects" $elects) -}}
[% endif %]
{{- $facts | toRawJson -}}
{{- end -}}

{{/* The value of a field, by its path; empty: it is not set. */}}
{{- define "[[ component ]].field" -}}
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
{{- define "[[ component ]].on" -}}
{{- $all := true -}}
{{- range $group := .when -}}
{{- $any := false -}}
{{- range $group -}}
{{- if include "[[ component ]].field" (dict "facts" $.facts "path" .) -}}
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
{{- define "[[ component ]].resolved" -}}
{{- if hasPrefix "$(" .text -}}
{{ include "[[ component ]].field" (dict "facts" .facts "path" (.text | trimPrefix "$(" | trimSuffix ")")) }}
{{- else -}}
{{ .text }}
{{- end -}}
{{- end -}}

{{/* The namespaces that a connection is restricted to, as a JSON list; none: it is not restricted. */}}
{{- define "[[ component ]].namespaces" -}}
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

[% if target %]
{{/* Whether another cluster is looked after than the one of the release. */}}
{{- define "[[ component ]].separate" -}}
{{- if not (kindIs "invalid" .Values.config.targetClientConnection) -}}
true
{{- end -}}
{{- end -}}

[% endif %]
[% if webhooks %]
{{/* Whether any webhook is enabled. */}}
{{- define "[[ component ]].serves" -}}
{{- range $section := (include "[[ component ]].facts" . | fromJson).webhooks -}}
{{- if and (kindIs "map" $section) (eq (get $section "enabled" | toString) "true") -}}
true
{{- end -}}
{{- end -}}
{{- end -}}

[% endif %]
{{/* Whether a step of the installation is rendered; values that cannot work end the rendering. */}}
{{- define "[[ component ]].part" -}}
[% if for_seed %]
{{- $facts := include "[[ component ]].facts" .root | fromJson -}}
{{- range $name := list [% for name in seed_controllers %]"[[ name ]]"[[ "" if loop.last else " " ]][% endfor %] -}}
{{- if include "[[ component ]].field" (dict "facts" $facts "path" (printf "controllers.%s.enabled" $name)) -}}
{{- if not (include "[[ component ]].field" (dict "facts" $facts "path" "seedConfig.metadata.name")) -}}
{{- fail "values: config.seedConfig.metadata.name: Required value: is the Seed that controllers work for" -}}
{{- end -}}
{{- end -}}
{{- end -}}
[% endif %]
[% if managed_resources %]
{{- $may := .root.Values.managedResources -}}
{{- if not (or $may.clusterAdmin $may.rules) -}}
{{- fail "values: managedResources: nothing says what ManagedResources may deliver: set managedResources.clusterAdmin to true for everything, or list in managedResources.rules what they may" -}}
{{- end -}}
{{- if and $may.clusterAdmin (or $may.rules (not $may.clusterWide)) -}}
{{- fail "values: managedResources: clusterAdmin grants everything, everywhere: leave out rules and clusterWide" -}}
{{- end -}}
[% endif %]
[% if target %]
{{- $separate := include "[[ component ]].separate" .root -}}
{{- $target := .root.Values.target -}}
{{- if and $separate (not $target.kubeconfigSecret) -}}
{{- fail "target.kubeconfigSecret must name a Secret, as the component configuration has a targetClientConnection" -}}
{{- end -}}
{{- if and (not $separate) $target.kubeconfigSecret -}}
{{- fail "target.kubeconfigSecret leads nowhere, as the component configuration has no targetClientConnection" -}}
{{- end -}}
[% else %]
{{- $separate := "" -}}
[% endif %]
{{- if and (not $separate) (has .root.Values.part (list "target" "access")) -}}
{{- fail "the component configuration has no targetClientConnection, so that there is no separate target cluster" -}}
{{- end -}}
[% if webhooks %]
{{- if eq "self" (include "[[ component ]].provision" .root) -}}
{{- $own := (include "[[ component ]].config" .root | fromJson).server.webhooks.tls.self -}}
{{- $known := (.root.Files.Get "files/configuration.json" | fromJson).completion.server.webhooks.tls.self -}}
{{- if ne $own.registrations $known.registrations -}}
{{- fail "config.server.webhooks.tls.self.registrations must be left out, as the installation mounts the file" -}}
{{- end -}}
{{- if ne $own.secretNamespace .root.Release.Namespace -}}
{{- fail "config.server.webhooks.tls.self.secretNamespace must be left out, as the Secret is beside the process" -}}
{{- end -}}
{{- end -}}
[% endif %]
[% if webhooks and target %]
{{- if and (eq "cert-manager" (include "[[ component ]].provision" .root)) $separate (not .root.Values.webhooks.caBundle) -}}
{{- fail "webhooks.caBundle must name the authorities, as cert-manager cannot do so in a separate target cluster; with server.webhooks.tls.provision: self the process does" -}}
{{- end -}}
[% endif %]
{{- $source := coalesce[% for name in source_connections %] .root.Values.config.[[ name ]][% endfor %] -}}
{{- if $source -}}
{{- if $source.kubeconfig -}}
{{- fail "the component configuration has a kubeconfig for the cluster of the process, which nothing mounts: leave it out, as pods have the credentials of their ServiceAccount" -}}
{{- end -}}
{{- end -}}
[% if webhooks %]
{{- $_ := include "[[ component ]].registered" .root -}}
[% endif %]
{{- $server := (include "[[ component ]].facts" .root | fromJson).server -}}
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
