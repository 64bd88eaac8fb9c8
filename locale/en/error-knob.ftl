# Why a setting cannot be read or set, what keeps it as it is, what is remarkable about it, and what became of it.
# An argument that may be missing is "absent" then.

## On any system

error-knob =
    .no-answer = the host did not answer
    .silent = the command failed and said nothing
    .unreadable = cannot understand what `{ $tool }` printed
    .not-installed = `{ $package }` is not installed there
    .none-such = the host has no such knob there
    .no-interface = there is no interface `{ $nic }`
    .no-such-interface = there is no such interface
    .other-part = it belongs to { $own }, not to { $other }
    .nic-name = tools would misread the interface's name
    .share-name = Samba would misread the share's name
    .mount-name = a mount is named by the path of its folder
    .no-place-at-start = linerate knows no place where the system would set it at its start
    .driver-unaware = the driver does not know it
    .driver-silent = the driver does not tell it
    .driver-without = the driver has no `{ $name }`
    .always-set = it always has a value, so it cannot be unset
    .impossible = it can never have had that value
    .only-put-back = it is only put back
    .switch = it takes `on` and `off`
    .switch-of = it takes `on`, `off` and one of `{ $parts }`
    .whole-number = it takes a whole number
    .one-of = it takes one of `{ $choices }`
    .at-least = it takes { $value } at least, because { $because }
    .at-most = it takes { $value } at most, because { $because }
    .bytes = it takes { $count } bytes in hexadecimal with colons between them
    .sizes = it takes three sizes in bytes, none smaller than the one before
    .processors = it takes processors
    .processor-lists = it takes processors, `0-3,8`, or a list for each by its name
    .one-processor = one processor at least has to do it
    .no-processor = the host has no processor { $number }
knob-target =
    .host = the host
    .nic = an interface
    .share = a share
    .mount = a mount

## On Linux

error-linux =
    .no-queue = the interface has no queue
    .no-smb-mount = no SMB share is mounted on `{ $folder }`
    .mount-option = the mount does not tell its `{ $option }`
    .needs = it needs `{ $name }`, which is off
    .no-offloads = the driver has no offloads
    .other-offloads = the driver's offloads are not those it had
    .uneven-queues = it has not as many queues to receive as to send
    .ring = the driver does not say how long its queues are
    .no-eee = the link does not know EEE
    .no-fields = the interface looks at nothing to spread connections
    .one-speed = the driver does not know other speeds
    .no-key = the kernel has no `{ $key }` there
    .no-device = the interface is no device of its own
    .no-governor = the processors' clock is not the system's to govern: firmware or a hypervisor does
    .no-preference = the processors' clock takes no such preference
    .no-interrupts = the interface is no device with interrupts of its own
    .no-choice = the driver does not let it be chosen
    .no-part = there is no `{ $name }`; there are `{ $all }`
    .no-network = the interface has no IPv4 network of its own
    .networks = the interface has more than one IPv4 network, and linerate changes one only
    .route-options = the route to its network has options that would be lost
    .nic-number = the interface's number is too large for a table
    .samba-value = cannot understand Samba's `{ $key }`
    .samba-share = Samba has no share `{ $share }`
    .samba-key = this Samba has no `{ $key }`
    .fstab-link = `{ $file }` is a link: what it leads to is made by another program
    .fstab-none = there is no `{ $file }`
    .fstab-several = `{ $file }` has several lines for that folder
    .fstab-password = a password stands in the folder's line of `{ $file }`
    .fstab-no-share = the folder's line of `{ $file }` mounts no SMB share
    .fstab-elsewhere = `{ $file }` has a line for a folder of that name elsewhere: by a link it may be the same
    .fstab-odd = the folder's line of `{ $file }` cannot be understood
    .fstab-other = that is no line without a password that mounts an SMB share at `{ $folder }`
    .testparm = `testparm` refuses `smb.conf`: { $complaints }
    .no-ksmbd = there is no `ksmbd`
    .no-manager = nothing that linerate knows sets up the interface there: netplan, NetworkManager, ifupdown or udev
    .read-before = `{ $file }` is read before any file of ours, and only one is

## On Windows

error-windows =
    .no-speed = the link has no speed: it is down, or not real
    .no-network = the interface is in no network
    .no-ip = the interface does no IP
    .no-ipv4 = the interface does no IPv4
    .smb-unused = the SMB client does not use it
    .own-value = the driver has values of its own for `{ $keyword }`: `{ $value }`
    .step = the driver takes { $min } and every { $step }th number above
    .no-rss = the driver does not know RSS
    .queue-count = the driver does not say how many it has
    .no-length = the driver has no length of frames for it
    .no-property = this Windows has no `{ $property }`
    .untold = this Windows does not tell it
    .no-registry-key = the registry has no such key

## On macOS

error-macos =
    .no-key = the kernel has no `{ $key }` now
    .nsmb = cannot understand `{ $key }` of `/etc/nsmb.conf`
    .smbutil = `smbutil` does not tell it
    .order = it takes all services that there are, in an order
    .no-medium = the driver does not tell the medium
    .no-power = this machine has no modes of power
    .no-command = macOS has no command that tells or changes it
    .no-server-setting = macOS's own server has no such setting; clients tell whether it offers it

## Why a value cannot be smaller or larger: behind "because" in English, a sentence of its own in other languages

knob-limit =
    .no-less-sense = less makes no sense
    .no-more-sense = more makes no sense
    .driver-least = the driver takes no less
    .driver-most = the driver takes no more
    .unknown-more = the driver does not say that it takes more
    .unknown-others = the driver does not say what else it takes
    .hardware-most = the hardware has no more
    .kernel-most = the kernel knows no more
    .windows-least = Windows takes no less
    .windows-most = Windows takes no more
    .ipv6 = IPv6 needs so much
    .ipv6-addresses = Linux deletes the interface's IPv6 addresses below that
    .above = `{ $nic }` lies on it and would be cut to it for good
    .below = that is the MTU of `{ $nic }`, on which it lies
    .longest-packet = no IP packet is longer
    .burst = without a queue every burst is lost
    .delay = more would only add delay
    .no-queue = nothing would be received without a queue
    .no-descriptors = nothing would pass without descriptors
    .nothing-below = there is nothing below
    .somewhere = what is received has to go somewhere
    .queues-most = the interface has no more queues to receive
    .nothing-nearer = there is nothing nearer
    .no-farther = no route is farther away
    .none-at-all = that is none at all
    .metric-zero = 0 is for the system itself
    .no-sign = it has no sign
    .the-least = that is the least
    .no-more = there is no more

## Why a value cannot be changed

knob-fixed =
    .old-advice = TCP tunes itself; take old advice out of `smb.conf` by hand
    .read-at-start = the server reads it only when it starts, which ends every session
    .protection = it is a protection, which linerate does not change
    .driver = the driver does not let it be changed
    .only-value = the driver takes nothing else
    .one-queue = the hardware has one queue
    .one-receive-queue = the interface has one queue to receive
    .link-speed = the ends of the link agree on it; see `nic.speed_duplex`
    .medium = it belongs to the medium, which `nic.speed_duplex` chooses
    .mode = its mode of now could not be set again
    .table = its table was written by hand, and `ethtool` could not write it again
    .namespace = only the first network namespace of the machine can set it
    .discipline = somebody has set it with options, which would be lost
    .rule = somebody else has a rule for its address
    .mount = the kernel takes it when it mounts, and not while programs use the mount
    .mounted = client and server agreed on it when the share was mounted
    .samba-elsewhere = Samba's configuration is in `{ $file }`, which linerate does not edit
    .power-failure = without it a power failure loses what clients took for written
    .may-corrupt = its own documentation warns that it may corrupt data
    .last-word = `{ $file }` sets it, and has the last word
    .no-setting = `{ $program }`, which sets up the interface, has no such setting
    .released = kernels that are released always do it
    .domain = the domain decides it
    .policy = a group policy decides it
    .follows = it follows from `nic.rss` and `nic.channels`
    .one-scheme = the machine has no other power scheme
    .status = it is what there is now, not a setting

## What else there is to know about a value

knob-remark =
    .feature = it is asked for, and something that it needs is off
    .eee = it is on and not at work, because the other end does not do it
    .resting = it is not at work: `{ $reason }`
    .discipline = the kernel chose `{ $kind }`
    .larger-one = `all` says { $all }, and the larger one counts
    .metric = the system chose { $metric }
    .mtu = the protocol stack would send { $now } and the driver takes { $driver }
    .rdma = it can do RDMA, which goes before RSS
    .mains = `{ $word }` while the mains supply it
    .own-file = the user's own file says `{ $word }`

## What was never tried on the real system

knob-unproven =
    .windows = what linerate reads and sets on Windows was built from recorded outputs and a model, and was never run on a real Windows
    .macos = what linerate reads and sets on macOS was built from public reports and sources, and was never run on a real Mac

## What a rule of a profile comes to

profile-verdict =
    .speed = its speed
    .round-trip = the round trip
    .cores = the number of processors
    .mtu = its MTU
    .not-known = { $what } is not known
    .less = { $what } is { $is }, less than { $limit }
    .not-below = { $what } is { $is }, not below { $limit }
    .no-driver = its driver is not known
    .other-driver = its driver is `{ $is }`, none of `{ $wanted }`
    .for-client = it is for a client
    .for-server = it is for a server
    .no-knob = this system has no such knob
    .no-nic = there is not any interface to set it on
    .no-share = there is not any share to set it on
    .no-mount = there is not any mount to set it on
    .not-read = it was not read
    .unlike = `{ $wished }` is not like `{ $now }`
    .no-order = `{ $now }` is neither more nor less than `{ $wished }`

## What became of a setting that was to be put back

undone =
    .report = { $place }, `{ $before }` before{ $now ->
            [absent] {""}
           *[other] , reads `{ $now }`
        }: { $outcome }
    .next = { $first }; { $next }
    .as-before = nothing to do
    .put-back = put back
    .sibling-put-back = moved with the change, put back
    .set-by-others = changed by somebody else, left alone
    .restarted = the host has restarted since
    .other-machine = another machine answers now
    .would-put-back = would be put back
    .unknown-knob = this program does not know the knob
    .not-read = it cannot be read
    .not-as-before = it does not read as before
