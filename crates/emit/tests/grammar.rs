//! Scripts whose own tools Debian does not have, read by their grammar: HCL by a parser of it, Bicep and PowerShell by readers
//! of what these scripts use of them. Every name in an expression must be one that the script declares, or one that the
//! language has.

use std::collections::BTreeSet;

use fathom_catalog::Catalog;
use fathom_emit::{Emit, emit};
use fathom_planner::{Family, Prove, Request, plan};
use fathom_profile::Profile;
use hcl_edit::expr::{Expression, ForExpr, Traversal, TraversalOperator};
use hcl_edit::structure::{Attribute, BlockLabel, Body};
use hcl_edit::visit::{Visit, visit_attr, visit_expr, visit_for_expr, visit_traversal};

/// Scripts of every kind of storage, on one machine and on several.
fn scripts(what: Emit) -> Vec<String> {
    let small = "iops = 9000\nsize = \"8KiB\"\nreads = \"70%\"";
    let large = "iops = 400000\nsize = \"8KiB\"\nreads = \"70%\"";
    let cases: [(&[Family], &[&str], &str, bool); 9] = [
        (&[Family::Premium], &["P30"], small, false),
        (&[Family::Premium], &["P30"], large, true),
        (&[Family::Standard], &[], small, false),
        (&[Family::V2], &[], small, false),
        (&[Family::Ultra], &[], small, false),
        (&[Family::Nfs], &["nfs-premium"], small, false),
        (&[Family::Nfs], &["nfs-flexible"], large, false),
        (&[Family::Smb], &["ssd-v1"], small, false),
        (&[Family::Smb], &["ssd-v2"], large, false),
    ];
    let mut found = Vec::new();
    for (families, only, figures, on_demand) in cases {
        let text = format!(
            "name = \"shop\"\n[[volume]]\nname = \"data\"\n[[volume.period]]\nname = \"peak\"\n{figures}\n\
             [[volume]]\nname = \"log\"\nrole = \"log\"\n[[volume.period]]\nname = \"peak\"\niops = 300\nsize = \"8KiB\"\n"
        );
        let (profile, _) = Profile::read(&text, "x").expect("a profile");
        let request = Request {
            families: families.to_vec(),
            only: only.iter().map(|name| (*name).to_owned()).collect(),
            prove: Prove::Never,
            offers: 1,
            on_demand,
            ..Request::default()
        };
        let plan = plan(&profile, &request, None, Catalog::builtin()).expect("a plan");
        assert!(!plan.offers.is_empty(), "{only:?}: {plan}");
        found.extend(emit(what, &plan, &plan.offers[0]).map(|script| script.text));
    }
    assert!(found.len() >= 7, "{what:?}");
    found
}

/// What a configuration of Terraform refers to.
#[derive(Default)]
struct References {
    /// The root and the attribute after it: `local.disks`, `azurerm_subnet.own`.
    pairs: BTreeSet<(String, String)>,
    /// Names that a `for` binds.
    bound: BTreeSet<String>,
}

impl Visit for References {
    fn visit_attr(&mut self, node: &Attribute) {
        // What is ignored is named as attributes of the block itself.
        if node.key.as_str() != "ignore_changes" {
            visit_attr(self, node);
        }
    }

    fn visit_expr(&mut self, node: &Expression) {
        if let Expression::Variable(name) = node {
            self.pairs.insert((name.as_str().to_owned(), String::new()));
        }
        visit_expr(self, node);
    }

    fn visit_traversal(&mut self, node: &Traversal) {
        if let Expression::Variable(root) = &node.expr {
            let first = node.operators.first().map(|it| it.value().clone());
            let attribute = match first {
                Some(TraversalOperator::GetAttr(name)) => name.as_str().to_owned(),
                _ => String::new(),
            };
            self.pairs.insert((root.as_str().to_owned(), attribute));
            for operator in &node.operators {
                self.visit_traversal_operator(operator.value());
            }
        } else {
            visit_traversal(self, node);
        }
    }

    fn visit_for_expr(&mut self, node: &ForExpr) {
        let names = [node.intro.key_var.as_ref(), Some(&node.intro.value_var)];
        let names = names.into_iter().flatten();
        self.bound
            .extend(names.map(|name| name.as_str().to_owned()));
        visit_for_expr(self, node);
    }
}

#[test]
fn terraform_is_hcl_and_refers_to_what_is_declared() {
    for text in scripts(Emit::Terraform) {
        let body: Body = text
            .parse()
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut declared: BTreeSet<(String, String)> = BTreeSet::new();
        for block in body.blocks() {
            let labels: Vec<&str> = block.labels.iter().map(BlockLabel::as_str).collect();
            match (block.ident.as_str(), labels.as_slice()) {
                ("variable", [name]) => {
                    declared.insert(("var".to_owned(), (*name).to_owned()));
                }
                ("locals", []) => {
                    let names = block.body.attributes();
                    let names = names.map(|it| ("local".to_owned(), it.key.as_str().to_owned()));
                    declared.extend(names);
                }
                ("resource", [kind, name]) => {
                    assert!(kind.starts_with("azurerm_"), "{kind}");
                    let new = declared.insert(((*kind).to_owned(), (*name).to_owned()));
                    assert!(new, "{kind} {name} is declared twice\n{text}");
                }
                ("terraform", []) | ("provider" | "output", [_]) => {}
                (other, labels) => panic!("a block {other} {labels:?}\n{text}"),
            }
        }
        let mut references = References::default();
        references.visit_body(&body);
        assert!(references.pairs.len() > 5, "{text}");
        for (root, attribute) in &references.pairs {
            let is_known = declared.contains(&(root.clone(), attribute.clone()))
                || references.bound.contains(root)
                || (root == "each" && ["key", "value"].contains(&attribute.as_str()))
                || (root == "string" && attribute.is_empty());
            assert!(is_known, "{root}.{attribute} is declared nowhere\n{text}");
        }
        for (kind, name) in declared.iter().filter(|(kind, _)| kind == "var") {
            let is_used = references.pairs.contains(&(kind.clone(), name.clone()));
            assert!(is_used, "the variable {name} is not used\n{text}");
        }
    }
}

/// A piece of Bicep or PowerShell.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    Mark(char),
    Line,
}

impl Token {
    fn is(&self, mark: char) -> bool {
        *self == Self::Mark(mark)
    }
}

/// Splits Bicep; what stands in `${…}` comes after its string, in brackets.
#[track_caller]
fn bicep(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if letter == '\'' {
            let (string, inner, left) = bicep_string(after);
            tokens.push(Token::Text(string));
            for expression in inner {
                tokens.push(Token::Mark('('));
                tokens.extend(bicep(&expression));
                tokens.push(Token::Mark(')'));
            }
            rest = left;
        } else if letter.is_ascii_alphabetic() || letter == '_' {
            let end = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
            let end = end.unwrap_or(rest.len());
            tokens.push(Token::Name(rest[..end].to_owned()));
            rest = &rest[end..];
        } else {
            match letter {
                '\n' => tokens.push(Token::Line),
                ' ' => {}
                _ if letter.is_ascii_digit() => {}
                _ => tokens.push(Token::Mark(letter)),
            }
            rest = after;
        }
    }
    tokens
}

/// The rest of a string after its quote: its text, its expressions, what follows it.
#[track_caller]
fn bicep_string(text: &str) -> (String, Vec<String>, &str) {
    let (mut string, mut inner) = (String::new(), Vec::new());
    let mut rest = text;
    loop {
        let letter = rest.chars().next().unwrap_or('\n');
        assert_ne!(letter, '\n', "a string goes on past its line: {text:.60}");
        let after = &rest[letter.len_utf8()..];
        match letter {
            '\'' => return (string, inner, after),
            '\\' => {
                let escaped = after.chars().next().unwrap_or('\n');
                assert!("\\'nrt$u".contains(escaped), "no escape: \\{escaped}");
                rest = &after[escaped.len_utf8()..];
            }
            '$' if after.starts_with('{') => {
                let end = after.find('}').expect("an expression ends");
                inner.push(after[1..end].to_owned());
                rest = &after[end + 1..];
            }
            _ => {
                string.push(letter);
                rest = after;
            }
        }
    }
}

/// Names that Bicep itself has.
const BICEP: [&str; 22] = [
    "resourceGroup",
    "resourceId",
    "range",
    "length",
    "null",
    "true",
    "false",
    "for",
    "in",
    "if",
    "param",
    "var",
    "resource",
    "string",
    "int",
    "bool",
    "description",
    "allowed",
    "minLength",
    "maxLength",
    "parent",
    "existing",
];

#[test]
fn bicep_declares_what_it_names_and_types_its_resources() {
    for text in scripts(Emit::Bicep) {
        let tokens = bicep(&text);
        let mut declared: BTreeSet<String> = BTreeSet::new();
        for (index, token) in tokens.iter().enumerate() {
            let Token::Name(word) = token else { continue };
            let begins = index == 0 || tokens[index - 1] == Token::Line;
            let next = &tokens[index + 1];
            match (word.as_str(), next) {
                ("param" | "var" | "resource", Token::Name(name)) if begins => {
                    assert!(
                        declared.insert(name.clone()),
                        "{name} is declared twice\n{text}"
                    );
                    let value = &tokens[index + 2];
                    match word.as_str() {
                        "param" => assert!(
                            matches!(value, Token::Name(kind) if kind == "string"),
                            "{name}"
                        ),
                        "var" => assert!(value.is('='), "{name}"),
                        _ => resource(value, &tokens[index + 3], &text),
                    }
                }
                ("for", Token::Name(name)) => {
                    declared.insert(name.clone());
                }
                ("for", next) => {
                    assert!(next.is('('), "{text}");
                    for bound in [&tokens[index + 2], &tokens[index + 4]] {
                        let Token::Name(name) = bound else {
                            panic!("{bound:?}\n{text}")
                        };
                        declared.insert(name.clone());
                    }
                }
                _ => {}
            }
        }
        for (index, token) in tokens.iter().enumerate() {
            let Token::Name(word) = token else { continue };
            let is_member = index > 0 && tokens[index - 1].is('.');
            let is_key = tokens.get(index + 1).is_some_and(|it| it.is(':'));
            // In `a ? b : c` a name stands before a colon too.
            let from = tokens[..index]
                .iter()
                .rposition(|it| *it == Token::Line)
                .unwrap_or(0);
            let in_choice = tokens[from..index].iter().any(|it| it.is('?'));
            let is_known = declared.contains(word) || BICEP.contains(&word.as_str());
            assert!(
                is_member || (is_key && !in_choice) || is_known,
                "{word} is declared nowhere\n{text}"
            );
        }
        closes(&tokens, &text);
    }
}

/// A resource has a type with a provider and a version, and a value.
#[track_caller]
fn resource(kind: &Token, then: &Token, text: &str) {
    let Token::Text(kind) = kind else {
        panic!("{kind:?}\n{text}")
    };
    let (path, version) = kind.split_once('@').unwrap_or_else(|| panic!("{kind}"));
    assert!(
        path.starts_with("Microsoft.") && path.contains('/'),
        "{kind}"
    );
    let is_date = version.len() >= 10 && version.as_bytes()[4] == b'-';
    assert!(is_date, "{kind}");
    assert!(
        then.is('=') || matches!(then, Token::Name(word) if word == "existing"),
        "{text}"
    );
}

/// Brackets close what they opened.
#[track_caller]
fn closes(tokens: &[Token], text: &str) {
    let mut open = Vec::new();
    for token in tokens {
        let Token::Mark(mark) = token else { continue };
        match mark {
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' => assert_eq!(open.pop(), Some(*mark), "{text}"),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?} is missing\n{text}");
}

/// Splits PowerShell: names are variables with their `$`, commands and parameters.
#[track_caller]
fn powershell(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        assert!(
            !rest.starts_with("@'") && !rest.starts_with("@\""),
            "a here-string: {rest:.60}"
        );
        if letter == '#' {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if letter == '\'' {
            let (string, left) = single_quoted(after);
            tokens.push(Token::Text(string));
            rest = left;
        } else if letter == '`' {
            assert!(after.starts_with('\n'), "a line goes on: {rest:.60}");
            rest = &after[1..];
        } else if letter.is_ascii_alphabetic() || "$-_".contains(letter) {
            let ends = |it: char| !it.is_ascii_alphanumeric() && !"-_:".contains(it);
            let end = after.find(ends).unwrap_or(after.len()) + 1;
            tokens.push(Token::Name(rest[..end].trim_end_matches(':').to_owned()));
            rest = &rest[end..];
        } else {
            assert_ne!(letter, '"', "a string that expands: {rest:.60}");
            match letter {
                '\n' => tokens.push(Token::Line),
                ' ' => {}
                _ if letter.is_ascii_digit() => tokens.push(Token::Text(String::new())),
                _ => tokens.push(Token::Mark(letter)),
            }
            rest = after;
        }
    }
    tokens
}

#[track_caller]
fn single_quoted(text: &str) -> (String, &str) {
    let mut string = String::new();
    let mut rest = text;
    loop {
        let end = rest
            .find(['\'', '\n'])
            .unwrap_or_else(|| panic!("{text:.60}"));
        assert_ne!(
            rest.as_bytes()[end],
            b'\n',
            "a string goes on past its line: {text:.60}"
        );
        string.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        let Some(doubled) = rest.strip_prefix('\'') else {
            return (string, rest);
        };
        string.push('\'');
        rest = doubled;
    }
}

/// Commands of Windows that these scripts call, with the parameters of each that they use.
const COMMANDS: [(&str, &[&str]); 19] = [
    ("Get-StoragePool", &["-FriendlyName", "-ErrorAction"]),
    ("Write-Host", &[]),
    ("Get-PhysicalDisk", &["-CanPool"]),
    ("Where-Object", &["-Like", "-match", "-contains", "-eq"]),
    ("Get-StorageSubSystem", &[]),
    ("Select-Object", &["-First"]),
    (
        "New-StoragePool",
        &[
            "-FriendlyName",
            "-StorageSubSystemFriendlyName",
            "-PhysicalDisks",
        ],
    ),
    (
        "New-VirtualDisk",
        &[
            "-StoragePoolFriendlyName",
            "-FriendlyName",
            "-ResiliencySettingName",
            "-ProvisioningType",
            "-NumberOfColumns",
            "-Interleave",
            "-UseMaximumSize",
        ],
    ),
    ("Out-Null", &[]),
    ("Initialize-Disk", &["-PartitionStyle", "-PassThru"]),
    ("New-Partition", &["-DriveLetter", "-UseMaximumSize"]),
    (
        "Format-Volume",
        &["-FileSystem", "-AllocationUnitSize", "-NewFileSystemLabel"],
    ),
    ("Set-StrictMode", &["-Version"]),
    (
        "Set-SmbClientConfiguration",
        &[
            "-EnableMultiChannel",
            "-ConnectionCountPerRssNetworkInterface",
            "-Force",
        ],
    ),
    ("Get-SmbMapping", &["-LocalPath", "-ErrorAction"]),
    (
        "New-SmbMapping",
        &["-LocalPath", "-RemotePath", "-Persistent"],
    ),
    ("Get-SmbMultichannelConnection", &[]),
    ("Format-List", &[]),
    (
        "New-Stripe",
        &["-Name", "-Luns", "-Columns", "-Interleave", "-Letter"],
    ),
];
/// Operators between values.
const OPERATORS: [&str; 7] = ["-f", "-not", "-ne", "-eq", "-match", "-contains", "-and"];
/// Variables that PowerShell itself has.
const VARIABLES: [&str; 6] = [
    "$true",
    "$false",
    "$null",
    "$_",
    "$Matches",
    "$env:STORAGE_ACCOUNT",
];

#[test]
fn powershell_calls_commands_it_knows_with_variables_it_set() {
    for text in scripts_of_windows() {
        let tokens = powershell(&text);
        closes(&tokens, &text);
        let mut set: BTreeSet<&str> = VARIABLES.into_iter().collect();
        let mut command = "";
        for (index, token) in tokens.iter().enumerate() {
            let Token::Name(word) = token else { continue };
            let next = tokens.get(index + 1);
            let before = index.checked_sub(1).map(|it| &tokens[it]);
            if word.starts_with('$') {
                let is_set = next.is_some_and(|it| it.is('='));
                let is_parameter =
                    before.is_some_and(|it| it.is(']')) && text.contains(&format!("] {word}"));
                if is_set || is_parameter {
                    set.insert(word);
                }
                assert!(set.contains(word.as_str()), "{word} is never set\n{text}");
            } else if word.starts_with('-') {
                let known = COMMANDS.iter().find(|(name, _)| *name == command);
                let is_own =
                    known.is_some_and(|(_, parameters)| parameters.contains(&word.as_str()));
                assert!(
                    is_own || OPERATORS.contains(&word.as_str()),
                    "{command} has no {word}\n{text}"
                );
            } else if word.contains('-') {
                let known = COMMANDS.iter().find(|(name, _)| name == word);
                let (name, _) = known.unwrap_or_else(|| panic!("{word} is no command\n{text}"));
                command = name;
            }
        }
        assert!(!command.is_empty(), "{text}");
    }
}

fn scripts_of_windows() -> Vec<String> {
    let small = "iops = 9000\nsize = \"8KiB\"\nreads = \"70%\"";
    let large = "iops = 90000\nsize = \"8KiB\"\nreads = \"100%\"";
    let cases: [(&[Family], &[&str], &str); 4] = [
        (&[Family::Premium], &["P30"], small),
        (&[Family::Standard], &[], small),
        (&[Family::Smb], &["ssd-v1"], small),
        (&[Family::Smb], &["ssd-v2"], large),
    ];
    let texts = cases.into_iter().map(|(families, only, figures)| {
        let text = format!(
            "name = \"shop\"\n[[volume]]\nname = \"data\"\n[[volume.period]]\nname = \"peak\"\n{figures}\n"
        );
        let (profile, _) = Profile::read(&text, "x").expect("a profile");
        let request = Request {
            families: families.to_vec(),
            only: only.iter().map(|name| (*name).to_owned()).collect(),
            prove: Prove::Never,
            offers: 1,
            ..Request::default()
        };
        let plan = plan(&profile, &request, None, Catalog::builtin()).expect("a plan");
        emit(Emit::Powershell, &plan, &plan.offers[0]).expect("a script").text
    });
    texts.collect()
}
