# What is said beyond the verdict: the way, the packets, the session, the channels, TCP and the hosts.
# An argument that may be missing is "absent" then.

## Titles and counts

detail-title =
    .routes = routes and interfaces
    .packets = packets that pass
    .neighbours = neighbours on the same segment
    .session = the session
    .mount = the mount of the system's own client
    .files = disks and small files
    .clients = channels that clients would open
    .channels = what each channel carried
    .transfers = TCP and the hosts at each rung
detail-count =
    .dropped = { $count ->
            [one] { $count } packet dropped
           *[other] { $count } packets dropped
        }
    .pauses = { $count ->
            [one] { $count } pause frame
           *[other] { $count } pause frames
        }

## The way

detail-route = `{ $address }` is reached by { $nic ->
        [absent] no known interface
       *[other] `{ $nic }`
    }, { $router ->
        [absent] without a router
       *[other] over the router `{ $router }`
    }
detail-interface = { $host }: `{ $nic }` { $speed ->
        [absent] of unknown speed
       *[other] { $speed }
    }, MTU { $mtu }{ $kind ->
        [absent] {""}
       *[other] , { $kind }
    }
detail-neighbour =
    .silent = `{ $address }` behind `{ $nic }` answers no echo request
    .takes-less = `{ $address }` behind `{ $nic }` answers { $answered } bytes and not { $tried }
    .takes-all = `{ $address }` behind `{ $nic }` answers { $answered } bytes, the most that our end sends
detail-packet = { $pair }: { $most } bytes pass{ $back ->
        [absent] {""}
       *[other] { $back }
    }; our end takes { $near }{ $far ->
        [absent] {""}
       *[other] , the far end takes { $far }
    }{ $larger ->
        [absent] {""}
       *[other] ; { $larger }
    }{ $seen ->
        [absent] {""}
       *[other] {" "}({ $seen })
    }
    .unproven = { $pair }: no probe was answered, so nothing is proven
    .to-server = `{ $nic }` to the server
    .back = , and { $most } were seen to come back from there
    .one-way = {" "}there (what comes back is not proven: the far end answers no echo requests of that size, and its TCP was asked instead)
    .vanish = larger ones vanish without a word
    .too-big-reported = a router says of larger ones that they are too big
detail-vanished =
    .our-end = of { $sent } of { $size } bytes that our end sent, { $counts }
    .each-end = of { $sent } of { $size } bytes that each end sent, { $counts }
    .there = { $count } reached the server's system
    .back = { $count } of the server's reached ours
    .near-refused = { $count } were refused as faulty by our NIC
    .far-refused = { $count } were refused as faulty by the server's NIC

## The session and its channels

detail-session =
    .most = the server takes reads of { $read } and writes of { $write } at once
    .credits = { $credits } credits, worth { $worth }
    .with-rss = the server lists `{ $address }` at { $speed } with RSS
    .without-rss = the server lists `{ $address }` at { $speed } without RSS
    .request = one small request takes { $time }
detail-mount = `{ $source }` on `{ $folder }`, SMB { $dialect ->
        [absent] of an unknown dialect
       *[other] { $dialect }
    }{ $channels ->
        [absent] ; how many channels is not known
       *[other] , { $channels }
    }
    .requests = it reads { $read } and writes { $write } with each request
    .encrypted = it encrypts
    .signed = it signs
    .unprotected = it neither signs nor encrypts
    .interface = it knows `{ $address }`{ $speed ->
        [absent] {""}
       *[other] {" "}at { $speed }
    }{ $channels ->
        [absent] {""}
       *[other] , channels there: { $channels }
    }
    .options = options: { $options }
detail-client = { $client }: { $pairs ->
        [absent] one, as it came
       *[other] { $pairs }
    }{ $remark ->
        [absent] {""}
       *[other] {" "}({ $remark })
    }
    .pair = { $channels } over { $ends }
    .unused = { $client }: not { $pair }: { $reason }
detail-channels =
    .together = { $direction }: all { $count } together { $rate } in { $trials }{ $against ->
            [absent] {""}
           *[other] , { $against }
        }
    .one = { $direction }: { $channel } carried { $rate }, { $share } of the whole{ $full ->
            [absent] {""}
           *[other] ; its NICs are { $full } full
        }
    .measured = measured: what each channel carried while all were in use, and all of them against one alone; not measured: what there would be without any other one of them
detail-against = { $gain }{ $confidence ->
        [absent] {""}
       *[other] {" "}at { $confidence }
    } of one alone ({ $ends }, { $rate }): { $verdict }
    .more = more, by over a tenth
    .less = less, by over a tenth
    .same = the same within a tenth
    .undecided = which cannot be told from the same

## TCP and the hosts

detail-rung =
    .round-trip = round trip
    .small-files = small files
detail-transfer = { $rung } { $direction }: { $parts }
    .round-trip = round trip { $time }
    .window = window { $window } for { $path } under way
    .segment = segments of { $bytes } bytes
    .resent = { $count } sent again by us
    .limited-by-sender = limited by our send buffer
    .limited-by-receiver = limited by the receiver's window
    .limited-by-network = limited by the network
    .whole-trial = the hosts over the whole trial, which makes and removes the files
detail-congestion-control =
    .near = congestion control { $near } at our end
    .far = congestion control { $far } set at the server's host
    .both = congestion control { $near } at our end and { $far } set at the server's host
detail-host =
    .fullest-processor = fullest processor { $share }
    .soft-interrupts = soft interrupts { $share }
    .stopped = stopped by a limit { $share }
