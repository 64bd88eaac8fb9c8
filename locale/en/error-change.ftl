# Errors, hints and what else is said by the commands that show and change settings, and put them back.
# An argument that may be missing is "absent" then.

## Errors

error-change =
    .session-dead = nobody said that the session lives; everything is as before
    .sets-nothing = `{ $text }` sets nothing
    .no-journal = a knob is to be set without a journal
    .no-carrier = `{ $nic }` on { $host } has no carrier
    .ambiguous = `{ $id }` is more than one change: { $changes }
    .change-in-journal = `{ $change }` in `{ $folder }`
    .one-more = { $first }, { $next }
    .no-such-knob = there is no knob `{ $id }`
    .no-such-nic = there is no interface `{ $nic }` on { $host }
    .no-rule = the profile `{ $profile }` has no rule for `{ $id }`
    .no-time = `{ $text }` is no time
    .rights-kept = cannot give up rights
    .sandbox-unknown = cannot tell what the sandbox lacks

## Hints

hint-change =
    .without = `--without ID` leaves a knob of the profile alone
    .setting-as = write `ID=VALUE`, or what it belongs to behind an `@`: `nic.mtu@eth0=9000`, `smb.server.sendfile@media=on`
    .stays = it stays, also after a restart, until `linerate undo { $id }`
    .stays-until-reboot = it stays until reboot or `linerate undo { $id }`; `--persist` keeps it longer
    .no-carrier = check the cable and the far end; `linerate undo` puts the settings back
    .undo = `linerate undo` puts everything back, `linerate undo CHANGE` one change
    .foreign = what somebody else set is only overwritten with `--force`
    .failed = what failed stays in the journal; `linerate undo` tries it again
    .in-full = name it in full
    .leftovers = `linerate changes` shows it, `linerate undo` puts it back
    .there-are = there are: { $names }
    .explain = `linerate inspect --explain ID` tells what a setting does
    .rules-of-one = `linerate profiles NAME` shows the rules of one
    .its-rules = `linerate profiles { $name }` shows its rules
    .time-as = write it as `0.3ms` or `20ms`

## What is no error

told-change =
    .hint = hint: { $hint }
    .damaged = warning: { $error }
    .leftovers = warning: what { $runs } changed is still so, because it was cut short or is still at work: what is measured now is measured with it
    .unproven = warning: { $host }: { $reason }
    .no-own-profile = warning: no profile of `{ $folder }` is used: { $reason }
    .lease = { $host } would put itself back if it heard nothing for { $seconds } s
    .so-already = it is so already; nothing was changed
    .would-run = these commands would run:
    .nothing-was-changed = nothing was changed
    .nothing-is-changed = nothing is changed
    .nothing-to-undo = nothing is changed, so there is nothing to undo
    .column-host = host
    .column-setting = setting
    .column-before = before
    .column-now = now
    .column-would-be = would be
    .column-change = change
    .column-before-and-now = before -> now
    .column-state = state
    .column-run = run
    .column-since = since (UTC)
    .column-before-and-changed = before -> changed to
    .column-reads-now = reads now
    .column-outcome = outcome
    .column-is = is
    .column-could-be = could be
    .column-rule-of-thumb = rule of thumb
    .kept = kept
    .unfinished = unfinished
    .not-known = not known
    .as-before = as before, nothing to do
    .put-back = put back
    .sibling-put-back = moved with it, put back
    .set-by-others = set by somebody else, left alone
    .restarted = the host has restarted since
    .other-machine = another machine answers now, left alone
    .failed = failed: { $reason }
    .would-put-back = would be put back
    .no-contradiction = the two ends do not contradict each other
    .host = { $host }: { $system } { $kernel }, { $cores } processors{ $memory ->
            [absent] {""}
           *[other] , { $memory } of memory
        }
    .a-tunnel = a tunnel
    .link-up = up
    .link-down = down
    .link-unknown = unknown
    .share = share { $name }
    .mount = mount { $folder }
    .not-there = not there: { $names }: { $reason }
    .differs = differs
    .range = { $least } to { $most }
    .three-sizes = three sizes
    .one-processor = the one processor
    .processors = processors { $first } to { $last }
    .bytes = { $count } bytes
    .or-unset = { $values }, unset
    .if-unset = { $values }; { $value } if unset
    .with-remark = { $values }; { $remark }
    .from = from { $file }
    .at-least = at least { $value }
    .at-most = at most { $value }
    .speed-from = speed from { $limit } on
    .speed-below = speed below { $limit }
    .round-trip-from = round trip from { $limit } on
    .round-trip-below = round trip below { $limit }
    .processors-from = processors from { $limit } on
    .processors-below = processors below { $limit }
    .mtu-from = MTU from { $limit } on
    .mtu-below = MTU below { $limit }
    .driver = driver { $drivers }
    .or = { $first } or { $next }
    .at-client = at the client
    .at-server = at the server
    .profile-changes = profile { $profile } on { $host }:
    .profile-changes-nothing = profile { $profile } changes nothing on { $host }
    .not-for-here = not for here: { $names }: { $reason }
    .already-so = already so: { $names }
