//! What PerfMon's objects and counters are called, in the languages whose names are public.
//!
//! Names are compared in small letters. German is as Windows' own table of counters has it, French as its counters are
//! addressed in scripts; of the other languages those names are known that Microsoft's documentation or scripts in use name.
//! Windows in Japanese, Korean and Chinese shows many counters by their English names.

use std::str::FromStr;

/// An object that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Object {
    PhysicalDisk,
    LogicalDisk,
    Processor,
    Memory,
}

/// What a counter means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// Reads a second.
    Reads,
    /// Writes a second.
    Writes,
    /// Reads and writes a second.
    Transfers,
    /// Bytes read a second.
    ReadBytes,
    /// Bytes written a second.
    WriteBytes,
    /// Bytes a second.
    Bytes,
    /// Mean latency of a read, in seconds.
    ReadSeconds,
    /// Mean latency of a write, in seconds.
    WriteSeconds,
    /// Mean latency of an I/O, in seconds.
    TransferSeconds,
    /// Mean size of a read.
    ReadSize,
    /// Mean size of a write.
    WriteSize,
    /// Mean size of an I/O.
    TransferSize,
    /// I/Os outstanding, averaged over the interval.
    Queue,
    /// I/Os outstanding at the interval's end.
    QueueNow,
    /// Percent of the interval without an I/O.
    Idle,
    /// I/Os a second that were split.
    Split,
    /// Percent of the processors in use.
    Processor,
    /// Bytes of memory that are free.
    AvailableBytes,
    /// KiB of memory that are free.
    AvailableKib,
    /// MiB of memory that are free.
    AvailableMib,
    /// Nothing that matters here.
    Ignore,
}

/// Words by which [`Meaning`]s are named.
const WORDS: &[(&str, Meaning)] = &[
    ("reads", Meaning::Reads),
    ("writes", Meaning::Writes),
    ("transfers", Meaning::Transfers),
    ("read-bytes", Meaning::ReadBytes),
    ("write-bytes", Meaning::WriteBytes),
    ("bytes", Meaning::Bytes),
    ("read-seconds", Meaning::ReadSeconds),
    ("write-seconds", Meaning::WriteSeconds),
    ("transfer-seconds", Meaning::TransferSeconds),
    ("read-size", Meaning::ReadSize),
    ("write-size", Meaning::WriteSize),
    ("transfer-size", Meaning::TransferSize),
    ("queue", Meaning::Queue),
    ("queue-now", Meaning::QueueNow),
    ("idle", Meaning::Idle),
    ("split", Meaning::Split),
    ("processor", Meaning::Processor),
    ("available-bytes", Meaning::AvailableBytes),
    ("available-kib", Meaning::AvailableKib),
    ("available-mib", Meaning::AvailableMib),
    ("ignore", Meaning::Ignore),
];

/// How many meanings there are.
pub(super) const MEANINGS: usize = WORDS.len();

impl Meaning {
    /// The words by which meanings are named.
    pub fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().map(|(word, _)| *word)
    }

    /// Whether it is of a disk.
    pub(super) fn of_disk(self) -> bool {
        self < Self::Processor
    }
}

impl FromStr for Meaning {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<&str> = Self::words().collect();
            format!(
                "`{text}` is no meaning of a counter: there are {}",
                words.join(", ")
            )
        })
    }
}

const OBJECTS: &[(Object, &[&str])] = &[
    (
        Object::PhysicalDisk,
        &[
            "physicaldisk",
            "physikalischer datenträger",
            "disque physique",
            "disco físico",
            "disco fisico",
            "物理ディスク",
            "физический диск",
            "fysieke schijf",
            "fysisk disk",
            "fizikseldisk",
            "fizikai lemez",
            "dysk fizyczny",
            "fyzický disk",
        ],
    ),
    (
        Object::LogicalDisk,
        &[
            "logicaldisk",
            "logischer datenträger",
            "disco logico",
            "dysk logiczny",
            "mantıksaldisk",
            "disque logique",
            "disco lógico",
            "논리 디스크",
            "логический диск",
        ],
    ),
    (
        Object::Processor,
        &[
            "processor",
            "processor information",
            "prozessor",
            "processeur",
            "procesador",
            "información del procesador",
            "processore",
            "processador",
            "procesor",
            "informazioni processore",
            "プロセッサ",
            "프로세서",
            "процессор",
        ],
    ),
    (
        Object::Memory,
        &[
            "memory",
            "arbeitsspeicher",
            "mémoire",
            "memoria",
            "memória",
            "pamięć",
            "bellek",
            "메모리",
            "память",
        ],
    ),
];

const DISK: &[(Meaning, &[&str])] = &[
    (
        Meaning::Reads,
        &[
            "disk reads/sec",
            "lesevorgänge/s",
            "lectures disque/s",
            "lecturas de disco/s",
            "letture disco/sec",
            "leituras de disco/s",
            "디스크 읽기/초",
            "disk okuma/sn",
            "odczyty dysku/s",
            "čtení disku/s",
            "diskläsningar/sek",
        ],
    ),
    (
        Meaning::Writes,
        &[
            "disk writes/sec",
            "schreibvorgänge/s",
            "écritures disque/s",
            "escrituras en disco/s",
            "escrituras de disco/s",
            "gravações de disco/s",
            "scritture disco/sec",
            "zapisy dysku/s",
            "disk yazma/sn",
            "디스크 쓰기/초",
            "обращений записи на диск/с",
        ],
    ),
    (
        Meaning::Transfers,
        &[
            "disk transfers/sec",
            "übertragungen/s",
            "transferts disque/s",
            "transferencias de disco/s",
            "trasferimenti disco/sec",
            "디스크 전송/초",
        ],
    ),
    (
        Meaning::ReadBytes,
        &[
            "disk read bytes/sec",
            "bytes gelesen/s",
            "byte gelesen/s",
            "lectures disque, octets/s",
            "bytes de lectura de disco/s",
            "byte letti da disco/sec",
            "bajty odczytu dysku/s",
            "disk okuma bayt/sn",
            "bytes de leitura de disco/s",
            "디스크 읽기 바이트/초",
            "скорость чтения с диска (байт/с)",
        ],
    ),
    (
        Meaning::WriteBytes,
        &[
            "disk write bytes/sec",
            "bytes geschrieben/s",
            "byte geschrieben/s",
            "écritures disque, octets/s",
            "bytes de escritura en disco/s",
            "bytes de escritura de disco/s",
            "byte scritti su disco/sec",
            "bytes de gravação de disco/s",
            "bytes escritos em disco/seg",
            "디스크 쓰기 바이트/초",
            "скорость записи на диск (байт/с)",
            "disk - skrivna byte/s",
            "disk yazma bayt/sn",
            "írási sebesség (bájt/s)",
            "geschreven bytes per seconde",
            "bajty zapisu dysku/s",
            "bajty zapisování na disk/s",
        ],
    ),
    (
        Meaning::Bytes,
        &[
            "disk bytes/sec",
            "bytes/s",
            "octets disque/s",
            "bytes de disco/s",
            "디스크 바이트/초",
        ],
    ),
    (
        Meaning::ReadSeconds,
        &[
            "avg. disk sec/read",
            "avg.disk sec/read",
            "mittlere sek./lesevorgänge",
            "moyenne disque s/lecture",
            "promedio de disco s/lectura",
            "prom. segundos de disco/lecturas",
            "média de segundos/leitura do disco",
            "평균 디스크 초/읽기",
            "среднее время чтения с диска (с)",
            "ort. disk sn/okuma",
            "genomsn. disk sek/läsning",
        ],
    ),
    (
        Meaning::WriteSeconds,
        &[
            "avg. disk sec/write",
            "avg.disk sec/write",
            "mittlere sek./schreibvorgänge",
            "moyenne disque s/écriture",
            "promedio de disco s/escritura",
            "prom. segundos de disco/escrituras",
            "média de segundos/gravação do disco",
            "평균 디스크 초/쓰기",
            "среднее время записи на диск (с)",
            "ort. disk sn/yazma",
            "genomsn. disk sek/skrivning",
        ],
    ),
    (
        Meaning::TransferSeconds,
        &[
            "avg. disk sec/transfer",
            "mittlere sek./übertragung",
            "moyenne disque s/transfert",
            "prom. segundos de disco/transferencias",
            "média de disco s/transferência",
            "평균 디스크 초/전송",
        ],
    ),
    (
        Meaning::ReadSize,
        &[
            "avg. disk bytes/read",
            "mittlere bytes/lesevorgang",
            "moyenne disque, octets/lecture",
            "평균 디스크 바이트/읽기",
        ],
    ),
    (
        Meaning::WriteSize,
        &[
            "avg. disk bytes/write",
            "mittlere bytes/schreibvorgang",
            "moyenne disque, octets/écriture",
            "평균 디스크 바이트/쓰기",
        ],
    ),
    (
        Meaning::TransferSize,
        &[
            "avg. disk bytes/transfer",
            "mittlere bytes/übertragung",
            "moyenne disque, octets/transfert",
        ],
    ),
    (
        Meaning::Queue,
        &[
            "avg. disk queue length",
            "durchschnittl. warteschlangenlänge des datenträgers",
            "longueur moyenne de file d'attente du disque",
            "longitud media de la cola de disco",
            "promedio longitud de la cola de disco",
            "comprimento médio da fila de disco",
            "średnia długość kolejki dysku",
            "средняя длина очереди диска",
        ],
    ),
    (
        Meaning::QueueNow,
        &[
            "current disk queue length",
            "aktuelle warteschlangenlänge",
            "taille de file d'attente du disque actuelle",
            "longitud actual de la cola de disco",
            "bieżąca długość kolejki dysku",
            "현재 디스크 큐 길이",
        ],
    ),
    (
        Meaning::Idle,
        &[
            "% idle time",
            "leerlaufzeit (%)",
            "% d'inactivité",
            "空闲时间百分比",
        ],
    ),
    (
        Meaning::Split,
        &["split io/sec", "teil-e/a/s", "e/s partagées/s"],
    ),
    (
        Meaning::Ignore,
        &[
            "% disk time",
            "% disk read time",
            "% disk write time",
            "avg. disk read queue length",
            "avg. disk write queue length",
            "% free space",
            "free megabytes",
            "zeit (%)",
            "lesezeit (%)",
            "schreibzeit (%)",
            "durchschnittl. warteschlangenlänge der datenträger-lesevorgänge",
            "durchschnittl. warteschlangenlänge der datenträger-schreibvorgänge",
            "freier speicherplatz (%)",
            "mb frei",
            "pourcentage du temps disque",
            "pourcentage du temps de lecture du disque",
            "pourcentage du temps écriture du disque",
            "longueur moyenne de file d'attente écriture disque",
            "% de tiempo de disco",
            "% tempo disco",
            "% tempo de disco",
            "% ディスク タイム",
        ],
    ),
];

const PROCESSOR: &[(Meaning, &[&str])] = &[(
    Meaning::Processor,
    &[
        "% processor time",
        "prozessorzeit (%)",
        "% temps processeur",
        "% de tiempo de procesador",
        "% tempo processore",
        "% tempo de processador",
        "czas procesora (%)",
        "% プロセッサ タイム",
        "% 프로세서 시간",
        "% загруженности процессора",
    ],
)];

const MEMORY: &[(Meaning, &[&str])] = &[
    (
        Meaning::AvailableMib,
        &[
            "available mbytes",
            "verfügbare mb",
            "mégaoctets disponibles",
            "mbytes disponibles",
            "mb disponibles",
            "доступно мб",
            "mbyte disponibili",
            "dostępna pamięć (mb)",
            "kullanılabilir mbayt",
        ],
    ),
    (
        Meaning::AvailableKib,
        &["available kbytes", "kilo-octets disponibles"],
    ),
    (
        Meaning::AvailableBytes,
        &[
            "available bytes",
            "verfügbare bytes",
            "octets disponibles",
            "bytes disponibles",
            "byte disponibili",
            "bytes disponíveis",
            "доступно байт",
        ],
    ),
];

/// A name in small letters with plain marks, so that ways to write it are one.
pub(super) fn plain(name: &str) -> String {
    let name = name.replace(['\u{2019}', '\u{60}'], "'").to_lowercase();
    let words: Vec<&str> = name.split_whitespace().collect();
    words.join(" ")
}

fn lookup<K: Copy>(table: &[(K, &[&str])], name: &str) -> Option<K> {
    let found = table.iter().find(|(_, names)| names.contains(&name));
    found.map(|(key, _)| *key)
}

/// The object of that plain name.
pub(super) fn object(name: &str) -> Option<Object> {
    lookup(OBJECTS, name)
}

/// What a counter of that plain name means on `object`.
pub(super) fn meaning(object: Object, name: &str) -> Option<Meaning> {
    match object {
        Object::PhysicalDisk | Object::LogicalDisk => lookup(DISK, name),
        Object::Processor => Some(lookup(PROCESSOR, name).unwrap_or(Meaning::Ignore)),
        Object::Memory => Some(lookup(MEMORY, name).unwrap_or(Meaning::Ignore)),
    }
}

/// How many of a text's column names are known: tells code pages apart.
pub(super) fn known_names(header: &str) -> usize {
    let fields = header.split(['"', '\t', '\r', '\n']);
    let parts = fields.filter(|field| field.contains('\\')).take(4_000);
    let known = parts.map(|field| {
        let mut pieces = field.trim_start_matches('\\').split('\\').map(plain);
        let counter = pieces.next_back().unwrap_or_default();
        let place = pieces.next_back().unwrap_or_default();
        let Some(object) = object(place.split('(').next().unwrap_or_default().trim()) else {
            return 0;
        };
        let ignored = matches!(meaning(object, &counter), None | Some(Meaning::Ignore));
        1 + usize::from(!ignored)
    });
    known.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_mean_one_thing() {
        for table in [DISK, PROCESSOR, MEMORY] {
            let mut all: Vec<&str> = table
                .iter()
                .flat_map(|(_, names)| *names)
                .copied()
                .collect();
            for name in &all {
                assert_eq!(plain(name), **name);
            }
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "a name stands twice");
        }
        let mut objects: Vec<&str> = OBJECTS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let count = objects.len();
        objects.sort_unstable();
        objects.dedup();
        assert_eq!(objects.len(), count);
    }

    #[test]
    fn every_meaning_has_its_word_in_order() {
        for (index, (word, meaning)) in WORDS.iter().enumerate() {
            assert_eq!(word.parse::<Meaning>(), Ok(*meaning));
            assert_eq!(*meaning as usize, index);
        }
        assert!("read".parse::<Meaning>().unwrap_err().contains("reads"));
    }
}
