//! What Windows prints: PowerShell's objects as JSON, and tables of `netsh` and `powercfg` in any
//! language.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use record::{
    BitsPerSecond, Bytes, InterfaceAddress, LinkState, Medium, Nic, Offload, Route, TcpFacts,
};
use serde_json::{Map, Value};

use super::Facts;
use crate::exec::Command;

/// Modules of PowerShell take seconds when they are loaded for the first time.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Most objects of one answer.
const OBJECTS_MAX: usize = 65_536;

/// A script with the time that it may need.
pub(crate) fn script(text: impl Into<String>) -> Command {
    Command::powershell(text).with_timeout(TIMEOUT)
}

/// The objects of an expression as a list, even where it is one or none, and deep enough for lists
/// in them.
pub(crate) fn list(expression: &str) -> Command {
    script(format!(
        "ConvertTo-Json -Compress -Depth 4 -InputObject @({expression})"
    ))
}

/// For `Select-Object`: these properties as they are, and those as text, because the number of an
/// enumeration tells nothing.
pub(crate) fn properties(plain: &[&str], as_text: &[&str]) -> String {
    let as_text = as_text
        .iter()
        .map(|name| format!("@{{n='{name}';e={{[string]$_.{name}}}}}"));
    let plain = plain.iter().map(|name| (*name).to_owned());
    plain.chain(as_text).collect::<Vec<_>>().join(", ")
}

/// One of PowerShell's objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object(Map<String, Value>);

impl Object {
    /// A text that is not empty, without what would only confuse a terminal.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let Value::String(text) = self.0.get(name)? else {
            return None;
        };
        let shown = text.chars().filter(|letter| !letter.is_control());
        Some(shown.collect::<String>().trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// A whole number, which some properties write as text.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        whole(self.0.get(name)?)
    }

    /// A truth, or one of the words of which Windows has several kinds.
    pub(crate) fn switch(&self, name: &str) -> Option<bool> {
        match self.0.get(name)? {
            Value::Bool(on) => Some(*on),
            Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
                "true" | "enabled" => Some(true),
                "false" | "disabled" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// A list of texts; one that is alone is a list as well.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        match self.0.get(name) {
            Some(Value::Array(values)) => values.iter().filter_map(text).collect(),
            Some(value) => text(value).into_iter().collect(),
            None => Vec::new(),
        }
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The objects of an answer; `None` when it is none. PowerShell 5.1 takes a list of one for the one
/// and no list for nothing, and may wrap a list into an object that counts it.
pub(crate) fn objects(said: &str) -> Option<Vec<Object>> {
    let said = said.trim_start_matches('\u{feff}').trim();
    if said.is_empty() || said == "null" {
        return Some(Vec::new());
    }
    let values = match serde_json::from_str(said).ok()? {
        Value::Array(values) => values,
        Value::Object(mut fields) => match fields.remove("value") {
            Some(Value::Array(values)) if fields.contains_key("Count") => values,
            Some(value) => {
                fields.insert("value".into(), value);
                vec![Value::Object(fields)]
            }
            None => vec![Value::Object(fields)],
        },
        _ => return None,
    };
    let objects = values
        .into_iter()
        .take(OBJECTS_MAX)
        .map(|value| match value {
            Value::Object(fields) => Some(Object(fields)),
            _ => None,
        });
    objects.collect()
}

/// The value behind a whole label, of which there are several languages. Labels begin with each other,
/// and how many blanks follow depends on the width of the letters.
pub(crate) fn labelled<'a>(said: &'a str, labels: &[&str]) -> Option<&'a str> {
    said.lines().find_map(|line| {
        let (label, value) = line.split_once(':')?;
        let label: Vec<&str> = label.split_whitespace().collect();
        let label = label.join(" ");
        let value = value.trim();
        (labels.contains(&label.as_str()) && !value.is_empty()).then_some(value)
    })
}

/// The MTU of an interface in `netsh interface ipv4 show interfaces`, whose headings are in any
/// language: index, metric, MTU, state and the name, which may have blanks.
pub(crate) fn netsh_mtu(said: &str, nic: &str) -> Option<i64> {
    said.lines().find_map(|line| {
        let mut rest = line.trim();
        let mut columns = [""; 4];
        for column in &mut columns {
            let (word, behind) = rest.split_once(char::is_whitespace)?;
            (*column, rest) = (word, behind.trim_start());
        }
        let [index, metric, mtu, _] = columns;
        let numbers = index.parse::<u32>().is_ok() && metric.parse::<u32>().is_ok();
        (numbers && rest == nic).then(|| mtu.parse().ok())?
    })
}

/// The power schemes of `powercfg /list` by their identifiers, and which of them is in use.
pub(crate) fn power_schemes(said: &str) -> (Vec<String>, Option<String>) {
    let mut all = Vec::new();
    let mut active = None;
    for line in said.lines() {
        let words = line.split(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
        let Some(scheme) = words
            .map(str::to_ascii_lowercase)
            .find(|word| is_scheme(word))
        else {
            continue;
        };
        if line.trim_end().ends_with('*') {
            active = Some(scheme.clone());
        }
        all.push(scheme);
    }
    (all, active)
}

fn is_scheme(word: &str) -> bool {
    let lengths: Vec<usize> = word.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12]
}

/// What tells one installation from another, and one start of it from the next.
pub(crate) fn identity_commands() -> [Command; 2] {
    [
        script(
            "(Get-ItemProperty -LiteralPath 'HKLM:\\SOFTWARE\\Microsoft\\Cryptography').MachineGuid",
        ),
        script(
            "(Get-CimInstance Win32_OperatingSystem).LastBootUpTime.ToUniversalTime()\
             .ToString('yyyy-MM-ddTHH:mmZ')",
        ),
    ]
}

/// The commands of [`facts`], without those of [`identity_commands`].
pub(crate) fn facts_commands() -> [Command; 9] {
    [
        list(&format!(
            "Get-CimInstance Win32_OperatingSystem | Select-Object {}",
            properties(&["Version", "Caption", "TotalVisibleMemorySize"], &[])
        )),
        list("Get-CimInstance Win32_ComputerSystem | Select-Object NumberOfLogicalProcessors"),
        adapters("*"),
        list(&format!(
            "Get-NetIPInterface | Select-Object {}",
            properties(&["InterfaceAlias", "NlMtu"], &["AddressFamily"])
        )),
        list("Get-NetIPAddress | Select-Object InterfaceIndex, IPAddress, PrefixLength"),
        list(
            "Get-NetRoute | Select-Object DestinationPrefix, NextHop, InterfaceIndex, \
             InterfaceAlias, RouteMetric, InterfaceMetric",
        ),
        list("Get-NetAdapterRss | Select-Object Name, Enabled, NumberOfReceiveQueues"),
        list(
            "Get-NetAdapterAdvancedProperty -Name * -AllProperties | Where-Object \
             { '*LsoV2IPv4','*TCPChecksumOffloadIPv4','*RscIPv4' -contains $_.RegistryKeyword } | \
             Select-Object Name, RegistryKeyword, RegistryValue",
        ),
        tcp_setting(),
    ]
}

/// The adapters of this name; `*` for all.
pub(crate) fn adapters(pattern: &str) -> Command {
    let select = properties(
        &[
            "Name",
            "InterfaceDescription",
            "ifIndex",
            "MacAddress",
            "MtuSize",
            "TransmitLinkSpeed",
            "DriverFileName",
            "Virtual",
            "InterfaceType",
        ],
        &["Status"],
    );
    list(&format!(
        "Get-NetAdapter -Name {pattern} -ErrorAction SilentlyContinue | Select-Object {select}"
    ))
}

/// The settings of TCP that count for connections of a LAN as for all others.
pub(crate) fn tcp_setting() -> Command {
    let names = [
        "AutoTuningLevelLocal",
        "AutoTuningLevelEffective",
        "CongestionProvider",
        "Timestamps",
        "EcnCapability",
    ];
    list(&format!(
        "Get-NetTCPSetting -SettingName Internet | Select-Object {}",
        properties(&["DelayedAckFrequency", "DelayedAckTimeout"], &names)
    ))
}

/// Reads the outputs of [`facts_commands`].
pub(crate) fn facts(said: &[Option<String>]) -> Facts {
    let answer = |index: usize| objects(said.get(index)?.as_deref()?);
    let first = |index: usize| answer(index)?.into_iter().next();
    let all = |index: usize| answer(index).unwrap_or_default();
    let system = first(0).unwrap_or_default();
    let caption = system.text("Caption");
    let version = system.text("Version").map(|version| match &caption {
        Some(caption) => format!("{version} ({caption})"),
        None => version,
    });
    let cores = first(1).and_then(|host| host.number("NumberOfLogicalProcessors"));
    let kibibytes = system.number("TotalVisibleMemorySize");
    let bytes = kibibytes.and_then(|size| u64::try_from(size).ok()?.checked_mul(1024));
    let details = Details {
        interfaces: by(all(3), |row| row.text("InterfaceAlias")),
        addresses: by(all(4), |row| row.number("InterfaceIndex")),
        rss: by(all(6), |row| row.text("Name")),
        properties: by(all(7), |row| row.text("Name")),
    };
    let nics = answer(2).map(|adapters| {
        let mut nics: Vec<Nic> = adapters
            .iter()
            .filter_map(|adapter| details.nic(adapter))
            .collect();
        nics.sort_by_key(|nic| nic.index);
        nics
    });
    Facts {
        version,
        cores: cores.and_then(|cores| u32::try_from(cores).ok()),
        memory: bytes.map(Bytes::new),
        nics,
        routes: all(5).iter().filter_map(route).collect(),
        tcp: first(8).map(|setting| tcp(&setting)).unwrap_or_default(),
    }
}

/// What belongs to an adapter and is told elsewhere, by its name or index.
struct Details {
    interfaces: BTreeMap<String, Vec<Object>>,
    addresses: BTreeMap<i64, Vec<Object>>,
    rss: BTreeMap<String, Vec<Object>>,
    properties: BTreeMap<String, Vec<Object>>,
}

fn by<K: Ord>(rows: Vec<Object>, key: impl Fn(&Object) -> Option<K>) -> BTreeMap<K, Vec<Object>> {
    let mut groups: BTreeMap<K, Vec<Object>> = BTreeMap::new();
    for row in rows {
        if let Some(key) = key(&row) {
            groups.entry(key).or_default().push(row);
        }
    }
    groups
}

/// The rows of one adapter.
fn of<'a, K: Ord>(groups: &'a BTreeMap<K, Vec<Object>>, key: &K) -> &'a [Object] {
    groups.get(key).map(Vec::as_slice).unwrap_or_default()
}

/// An MTU that is none: Windows' loopback has it.
const NO_MTU: i64 = 4_294_967_295;

impl Details {
    fn nic(&self, adapter: &Object) -> Option<Nic> {
        let name = adapter.text("Name")?;
        let index = adapter.number("ifIndex")?;
        let is_ipv4 = |row: &&Object| row.text("AddressFamily").as_deref() == Some("IPv4");
        let stack = of(&self.interfaces, &name).iter().filter(is_ipv4);
        let stack = stack.filter_map(|row| row.number("NlMtu"));
        let driver = adapter.number("MtuSize");
        let mtu = stack.chain(driver).filter(|&mtu| mtu > 0).min()?;
        let queues = of(&self.rss, &name)
            .first()
            .and_then(|rss| match rss.switch("Enabled")? {
                true => u32::try_from(rss.number("NumberOfReceiveQueues")?).ok(),
                false => Some(1),
            });
        let of_nic = of(&self.addresses, &index).iter();
        let properties = of(&self.properties, &name).iter();
        let is_virtual = adapter.switch("Virtual") == Some(true);
        Some(Nic {
            index: u32::try_from(index).ok()?,
            mac: adapter
                .text("MacAddress")
                .and_then(|mac| hardware_address(&mac)),
            mtu: u32::try_from(mtu).ok().filter(|_| mtu < NO_MTU)?,
            mtu_max: None,
            speed: adapter.number("TransmitLinkSpeed").and_then(|bits| {
                let bits = u64::try_from(bits).ok().filter(|&bits| bits > 0)?;
                Some(BitsPerSecond::new(bits))
            }),
            shaped: None,
            state: state(adapter.text("Status").as_deref()),
            driver: adapter
                .text("DriverFileName")
                .or_else(|| adapter.text("InterfaceDescription")),
            kind: is_virtual.then(|| "virtual".to_owned()),
            medium: medium(adapter),
            port_of: None,
            modes: None,
            addresses: of_nic.filter_map(address).collect(),
            offloads: properties.filter_map(offload).collect(),
            rx_queues: queues,
            tx_queues: None,
            name,
        })
    }
}

/// By the number that IANA has for the type of an interface (`ifType`): all but a cable, which virtual ones call
/// themselves too.
pub(crate) const fn medium_by_number(number: u32) -> Option<Medium> {
    match number {
        23 | 131 => Some(Medium::Tunnel),
        71 => Some(Medium::Wireless),
        209 => Some(Medium::Bridge),
        _ => None,
    }
}

/// By the number for the type of an interface, and by the drivers of VPNs that
/// say no more than that they are virtual.
fn medium(adapter: &Object) -> Option<Medium> {
    let driver = adapter.text("DriverFileName").unwrap_or_default();
    let driver = driver.to_ascii_lowercase();
    let drivers = ["wintun", "wireguard", "tap0901", "ovpn-dco"];
    if drivers.iter().any(|known| driver.starts_with(known)) {
        return Some(Medium::Tunnel);
    }
    match adapter.number("InterfaceType")? {
        6 if adapter.switch("Virtual") == Some(false) => Some(Medium::Cable),
        other => medium_by_number(u32::try_from(other).ok()?),
    }
}

fn state(word: Option<&str>) -> LinkState {
    match word {
        Some("Up") => LinkState::Up,
        Some("Disconnected" | "Disabled" | "Not Present" | "LowerLayerDown" | "Down") => {
            LinkState::Down
        }
        _ => LinkState::Unknown,
    }
}

/// `00-15-5D-01-02-03` as others write it.
fn hardware_address(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split(['-', ':']).collect();
    let is_byte =
        |part: &&str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    (parts.len() == 6 && parts.iter().all(is_byte)).then(|| parts.join(":").to_ascii_lowercase())
}

fn address(row: &Object) -> Option<InterfaceAddress> {
    let text = row.text("IPAddress")?;
    // `fe80::1%12` names its interface.
    let address: IpAddr = text.split('%').next()?.parse().ok()?;
    let prefix = u8::try_from(row.number("PrefixLength")?).ok()?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    (prefix <= bits).then_some(InterfaceAddress { address, prefix })
}

fn offload(row: &Object) -> Option<(String, Offload)> {
    let name = match row.text("RegistryKeyword")?.as_str() {
        "*LsoV2IPv4" => "tcp-segmentation-offload",
        "*TCPChecksumOffloadIPv4" => "tx-checksumming",
        "*RscIPv4" => "large-receive-offload",
        _ => return None,
    };
    let value: i64 = row.texts("RegistryValue").first()?.parse().ok()?;
    let (on, fixed) = (value & 1 == 1, false);
    Some((name.to_owned(), Offload { on, fixed }))
}

fn route(row: &Object) -> Option<Route> {
    let destination = row.text("DestinationPrefix")?;
    let hop: IpAddr = row.text("NextHop")?.split('%').next()?.parse().ok()?;
    let gateway = Some(hop).filter(|hop| !hop.is_unspecified());
    let (network, bits) = destination.split_once('/')?;
    let network: IpAddr = network.parse().ok()?;
    let whole = if network.is_ipv4() { "32" } else { "128" };
    // Windows keeps a route to each of its own addresses, and to whole groups.
    if network.is_multicast() || network.is_loopback() || (gateway.is_none() && bits == whole) {
        return None;
    }
    let metrics = [row.number("RouteMetric"), row.number("InterfaceMetric")];
    let metric = metrics
        .into_iter()
        .flatten()
        .try_fold(0_i64, i64::checked_add);
    let is_default = network.is_unspecified() && bits == "0";
    Some(Route {
        destination: if is_default {
            "default".into()
        } else {
            destination
        },
        gateway,
        nic: row.text("InterfaceAlias")?,
        source: None,
        metric: metric.and_then(|metric| u32::try_from(metric).ok()),
    })
}

fn tcp(setting: &Object) -> TcpFacts {
    let word = |name: &str| Some(setting.text(name)?.to_ascii_lowercase());
    TcpFacts {
        congestion_control: word("CongestionProvider"),
        window_scaling: word("AutoTuningLevelLocal").map(|level| level != "disabled"),
        timestamps: word("Timestamps").map(|word| word != "disabled"),
        ..TcpFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_one_whatever_powershell_makes_of_it() {
        for said in [
            "[{\"a\":1}]",
            "\u{feff}[{\"a\":1}]\r\n",
            "{\"a\":1}",
            "{\"value\":[{\"a\":1}],\"Count\":1}",
            "[{\"a\":\"1\"}]",
        ] {
            let objects = objects(said).unwrap();
            assert_eq!(objects.len(), 1, "{said}");
            assert_eq!(objects[0].number("a"), Some(1), "{said}");
        }
        for said in ["", "\r\n", "null", "[]"] {
            assert_eq!(objects(said), Some(Vec::new()), "{said}");
        }
        assert_eq!(objects("{\"value\":3,\"Count\":1}").unwrap().len(), 1);
        for said in [
            "3",
            "\"x\"",
            "[3]",
            "[null]",
            "[{",
            "Get-NetAdapter : no",
            "[{}] x",
        ] {
            assert_eq!(objects(said), None, "{said}");
        }
    }

    #[test]
    fn properties_are_what_they_are_or_nothing() {
        let said = r#"[{"text":" x ","empty":"","number":"4096","long":18446744073709551615,
            "yes":true,"word":"Enabled","other":5,"list":["a",3,null],"alone":"b","none":null}]"#;
        let object = objects(said).unwrap().remove(0);
        assert_eq!(object.text("text").as_deref(), Some("x"));
        assert_eq!(object.text("empty"), None);
        assert_eq!(object.text("number").as_deref(), Some("4096"));
        assert_eq!(object.number("number"), Some(4096));
        assert_eq!(object.number("long"), None);
        assert_eq!(object.switch("yes"), Some(true));
        assert_eq!(object.switch("word"), Some(true));
        // The number of an enumeration is not guessed at.
        assert_eq!(object.switch("other"), None);
        assert_eq!(object.text("other"), None);
        assert_eq!(object.texts("list"), ["a", "3"]);
        assert_eq!(object.texts("alone"), ["b"]);
        assert!(object.texts("none").is_empty() && object.texts("missing").is_empty());
    }

    #[test]
    fn what_carries_the_packets_is_told_by_the_type_and_the_driver() {
        for (said, meant) in [
            (r#""InterfaceType":6,"Virtual":false"#, Some(Medium::Cable)),
            (r#""InterfaceType":6,"Virtual":true"#, None),
            (r#""InterfaceType":71"#, Some(Medium::Wireless)),
            (r#""InterfaceType":23"#, Some(Medium::Tunnel)),
            (r#""InterfaceType":53"#, None),
            (
                r#""InterfaceType":53,"DriverFileName":"WireGuard.sys""#,
                Some(Medium::Tunnel),
            ),
            (r#""DriverFileName":"ixs68.sys""#, None),
        ] {
            let adapter = objects(&format!("[{{{said}}}]")).unwrap().remove(0);
            assert_eq!(medium(&adapter), meant, "{said}");
        }
    }

    #[test]
    fn labels_are_whole_and_tables_of_any_language() {
        let said = "Fast Open                           : enabled \r\n\
            Fast Open フォールバック                  : disabled \r\n";
        assert_eq!(labelled(said, &["Fast Open"]), Some("enabled"));
        let fallback = ["Fast Open Fallback", "Fast Open フォールバック"];
        assert_eq!(labelled(said, &fallback), Some("disabled"));
        assert_eq!(labelled(said, &["Open"]), None);
        let table = "Idx     Met         MTU          状態                 名前\n\
            ---  ----------  ----------  ------------  ---------------------------\n  \
            1          75  4294967295  connected     Loopback Pseudo-Interface 1\n \
            19          25        1500  connected     イーサネット 5\n";
        assert_eq!(netsh_mtu(table, "イーサネット 5"), Some(1500));
        assert_eq!(
            netsh_mtu(table, "Loopback Pseudo-Interface 1"),
            Some(4_294_967_295)
        );
        assert_eq!(netsh_mtu(table, "5"), None);
        assert_eq!(netsh_mtu(table, "名前"), None);
    }

    #[test]
    fn power_schemes_are_found_by_their_identifiers() {
        let said = "電源設定の GUID: 381b4222-f694-41f0-9685-ff5bb260df2e  (バランス) *\r\n\
            Power Scheme GUID: 8C5E7FDA-e8bf-4a96-9a85-a6e23a8c635c  (High performance)\r\nx-y *\r\n";
        let (all, active) = power_schemes(said);
        assert_eq!(all.len(), 2);
        assert_eq!(all[1], "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c");
        assert_eq!(
            active.as_deref(),
            Some("381b4222-f694-41f0-9685-ff5bb260df2e")
        );
    }
}
