# Errors, hints and what else is said by `copy` and `ls`, and of shares and logins as people type them.
# An argument that may be missing is "absent" then.

## Errors

error-copy =
    .no-share = neither end is a share
    .delete-of-several = `--delete` goes with one source only
    .not-a-share = `{ $text }` is not a share: { $why }
    .address-without-share = it names no share
    .address-begin = it does not begin with `smb://`, `//` or `\\`
    .address-control = it holds a control character
    .address-password = a password has no place in it
    .address-port = its port is no port
    .address-empty = its host or user is empty
    .address-dots = `.` and `..` have no place in it
    .user-and-anonymous = the share names the user `{ $user }`, and `--anonymous` means nobody
    .two-users = the share names the user `{ $user }`, and the credentials file `{ $of-file }`
    .no-dialect = no dialect is left: the oldest that will do is newer than the newest to offer
    .too-old-to-encrypt = nothing older than SMB 3.0 can be encrypted
    .no-key = a session without a password has no key to sign or encrypt with
    .no-user = no user name is given
    .no-user-and-ticket = no user name is given, and no ticket can be used
    .no-password = no password for `{ $user }` is given
    .no-password-and-ticket = no password for `{ $user }` is given, and no ticket can be used
    .password-not-utf8 = { $variable } is not UTF-8
    .password-unread = cannot read the password
    .credentials-unread = cannot read the credentials file `{ $path }`
    .credentials-incomplete = the credentials file `{ $path }` is not complete

## Hints

hint-copy =
    .resume = nothing that looks complete was left; the same command with `--resume` goes on with the rest, and with parts that were kept (`~….linerate-part`)
    .then-resume = { $first }; then the same command with `--resume` goes on with the rest, and with parts that were kept (`~….linerate-part`)
    .resume-parts = the same command with `--resume` tries what was interrupted again, and goes on with parts that were kept (`~….linerate-part`)
    .resume-it = the same command with `--resume` goes on with it
    .one-end = write one of them as `smb://user@host/share/file`
    .one-by-one = what one source does not have, another one may; copy them one by one
    .force = `--force` replaces it, `--update` does where the source is newer
    .force-all = `--force` replaces what exists already, `--update` where the source is newer, and `--resume` passes over copies of the same size and time
    .path = check the path; names on a share begin below its top
    .right = the user needs the right to it on the server
    .disk-full = make room there, then repeat the command with `--resume`: it goes on with the rest; nothing that looks complete was left
    .unsigned = log in as a user and leave out `--sign`; `--allow-unsigned` goes without and says nothing
    .name-of-domain = name the server as its domain does; `--ntlm` asks for NTLM and says nothing
    .find-kdc = `--kerberos` looks for it by the domain's name, `--kdc HOST` asks that one
    .map-names = `--map-names` copies most names that a share cannot have
    .written-again = { $files } written again, piece by piece; `--verify` proves all that is copied to this server
    .list-all = `-v` lists them all
    .share-as = write it as `smb://user@host/share/folder`, `//host/share` or `\\host\share`
    .password = use `--credentials FILE` or the environment variable LINERATE_PASSWORD
    .leave-one-out = leave one of them out
    .swap-dialects = swap `--dialect-min` and `--dialect-max`
    .newer-dialect = leave out `--encrypt`, or allow 3.0 or newer with `--dialect-max`
    .no-key = log in as a user, or leave out `--sign required`, `--as windows-11` and `--encrypt`
    .user = write the share as `smb://user@host/share`, use `--credentials FILE`, or go in with `--guest` or `--anonymous`
    .give-password = use `--credentials FILE` (lines `username=`, `password=`), or set { $variable }
    .credentials-file = name a regular file with the lines `username=`, `password=` and, if needed, `domain=`
    .credentials-lines = it needs the lines `username=NAME` and `password=PASSWORD`
    .icacls = icacls "{ $path }" /inheritance:r /grant:r "%USERNAME%:R"
    .chmod = chmod 600 { $path }

## What is no error

told-copy =
    .would-copy = would copy { $path }: { $size }
    .would-link = would copy { $path }: a link
    .would-remove = would remove { $path }
    .reconnecting = reconnecting to `{ $server }`
    .lost = the connection to `{ $server }` is lost: trying again, with longer and longer pauses
    .connected-again = connected to `{ $server }` again after { $seconds } s
    .stopping = what is not complete is removed, or kept for `--resume`
    .left = left at once
    .unsigned = not signed: what goes to and from `{ $server }` can be read and changed by whoever is on the path, and the copy would not show it
    .posix-server = `{ $server }` has the POSIX extensions of SMB 3.1.1: names are kept as they are, and so are modes and links
    .by-ntlm = logged in by NTLM, not Kerberos: { $reason }{ $also ->
            [absent] {""}
           *[other] , and { $also }
        }
    .ticket-for-address = `{ $server }` is an address, and tickets are for names
    .no-kdc = no KDC of the domain of `{ $user }` is known here
    .no-ticket = no ticket is used: { $reason }
    .password = password of { $user } on { $server }:
    .readable = warning: others can read the credentials file `{ $path }`
    .not-copied = not copied:
    .more = and { $count } more
    .data-lost = the server lost data of { $files }, the first is `{ $path }`: { $reason }
    .streams = alternate data streams were not copied, of { $files }; the first is `{ $stream }` of `{ $path }`
    .without = copied, but without times, mode or attributes: { $count }, the first is `{ $path }`: { $reason }
    .would-copy-all = would copy { $from } to { $to }: { $files }, { $size } over { $channels ->
            [one] 1 channel
           *[other] { $channels } channels
        }
    .copied = { $from } -> { $to }: { $files }, { $size } in { $seconds } s{ $rate ->
            [absent] {""}
           *[other] {" "}at { $rate }
        }
    .before-the-end = copied before it ended: { $copied }, { $size }, of { $found } found
    .by-server = { $size } copied by the server itself
    .through-here = sent through this machine: { $reason }
    .not-used = not used: { $reason }
    .no-chains = `{ $server }` signs chained replies without their padding, against MS-SMB2 3.1.4.1: requests go alone
    .channel = { $local } -> { $remote }: { $size }{ $session ->
            [absent] {""}
           *[other] {" "}(session { $session })
        }
    .count-verified = { $count } read back and found the same
    .count-links = { $count } symbolic links
    .count-unchanged = { $count } there already
    .count-newer = { $count } newer at the destination, left
    .count-deleted = { $count } removed from the destination
    .count-would-delete = { $count } to be removed from the destination
    .count-kept = { $count } not removed, as something in their folder was not copied, they were exchanged since, or folders may hold what is excluded
    .count-skipped = { $count } left out: links, devices and the like
    .count-unfinished = { $count } left out: parts of copies that were not completed, by their names (`~….linerate-part`, `-record`)
    .count-filtered = { $count } left out by `--include` and `--exclude`
    .count-failed = { $count } not copied
    .proven-sent = proven: the server gives back what was read here, and no one on the path has changed it; not proven: that it is on the server's disk already
    .proven-sent-unsigned = proven: what came back from the server is what was read here; not proven: that the server has the same, as without signing or encryption nothing shows a change on the path, and that it is on the server's disk already
    .proven-received = proven: what is here is what the server sent, and no one on the path has changed it; not proven: that it is on this machine's disk already
    .proven-received-unsigned = proven: what is here is what arrived; not proven: that the server sent the same, as without signing or encryption nothing shows a change on the path, and that it is on this machine's disk already
    .column-share = share
    .column-kind = kind
    .column-comment = comment
    .share-of-files = files
    .share-of-printer = printer
    .share-of-pipes = pipes
    .share-of-others = other
    .posix-share = the share has the POSIX extensions of SMB 3.1.1: names and modes are those of Unix
    .odd-name = one name here is odd, so that linerate cannot reach what has it: `{ $name }`: { $reason }
    .odd-names = { $count } names here are odd, so that linerate cannot reach what has them; the first is `{ $name }`: { $reason }
    .symbolic-link = symbolic link
    .junction = junction
    .unix-link = Unix link
    .unix-special = Unix pipe, socket or device
    .deduplicated = deduplicated
    .in-a-cloud = in a cloud
    .on-another-server = on another server, DFS
    .other-link = link of kind { $tag }
    .reparse-point = reparse point { $tag }
