//! html5ever with a sink whose nodes lie in one vector, which is faster than counted references. What it answers to
//! is in ../README.md.

use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{expanded_name, local_name, namespace_url, ns, parse_document, Attribute, ExpandedName, ParseOpts, QualName};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::time::Instant;

type Handle = u32;
const NONE: Handle = 0;

enum Data {
    Document,
    Doctype(StrTendril, StrTendril, StrTendril),
    Text(StrTendril),
    Comment(StrTendril),
    Instruction(StrTendril, StrTendril),
    Element { name: QualName, attributes: Vec<Attribute>, contents: Handle, annotation: bool },
}

struct Node {
    parent: Handle,
    previous: Handle,
    next: Handle,
    first: Handle,
    last: Handle,
    data: Data,
}

/// Node 0 is no node, node 1 the document.
struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    fn new() -> Tree {
        let mut tree = Tree { nodes: Vec::new() };
        tree.make(Data::Document);
        tree.make(Data::Document);
        tree
    }

    fn make(&mut self, data: Data) -> Handle {
        self.nodes.push(Node { parent: NONE, previous: NONE, next: NONE, first: NONE, last: NONE, data });
        (self.nodes.len() - 1) as Handle
    }

    fn at(&mut self, node: Handle) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    fn detach(&mut self, node: Handle) {
        let (parent, previous, next) = {
            let it = self.at(node);
            let links = (it.parent, it.previous, it.next);
            it.parent = NONE;
            it.previous = NONE;
            it.next = NONE;
            links
        };
        if parent == NONE {
            return;
        }
        if previous != NONE { self.at(previous).next = next } else { self.at(parent).first = next }
        if next != NONE { self.at(next).previous = previous } else { self.at(parent).last = previous }
    }

    /// Before `next`, or last if that is no node.
    fn link(&mut self, parent: Handle, next: Handle, node: Handle) {
        self.detach(node);
        let previous = if next == NONE { self.at(parent).last } else { self.at(next).previous };
        let it = self.at(node);
        it.parent = parent;
        it.previous = previous;
        it.next = next;
        if previous != NONE { self.at(previous).next = node } else { self.at(parent).first = node }
        if next != NONE { self.at(next).previous = node } else { self.at(parent).last = node }
    }

    fn insert(&mut self, parent: Handle, next: Handle, child: NodeOrText<Handle>) {
        let node = match child {
            NodeOrText::AppendNode(node) => node,
            NodeOrText::AppendText(text) => {
                let previous = if next == NONE { self.at(parent).last } else { self.at(next).previous };
                if previous != NONE {
                    if let Data::Text(before) = &mut self.at(previous).data {
                        before.push_tendril(&text);
                        return;
                    }
                }
                self.make(Data::Text(text))
            }
        };
        self.link(parent, next, node);
    }
}

impl TreeSink for Tree {
    type Handle = Handle;
    type Output = Self;

    fn finish(self) -> Self {
        self
    }
    fn parse_error(&mut self, _: Cow<'static, str>) {}
    fn get_document(&mut self) -> Handle {
        1
    }
    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        match &self.nodes[*target as usize].data {
            Data::Element { name, .. } => name.expanded(),
            _ => panic!("not an element"),
        }
    }
    fn create_element(&mut self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> Handle {
        let contents = if flags.template { self.make(Data::Document) } else { NONE };
        let annotation = flags.mathml_annotation_xml_integration_point;
        self.make(Data::Element { name, attributes, contents, annotation })
    }
    fn create_comment(&mut self, text: StrTendril) -> Handle {
        self.make(Data::Comment(text))
    }
    fn create_pi(&mut self, target: StrTendril, data: StrTendril) -> Handle {
        self.make(Data::Instruction(target, data))
    }
    fn append(&mut self, parent: &Handle, child: NodeOrText<Handle>) {
        self.insert(*parent, NONE, child)
    }
    fn append_based_on_parent_node(&mut self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        if self.at(*element).parent != NONE {
            self.append_before_sibling(element, child)
        } else {
            self.append(previous, child)
        }
    }
    fn append_doctype_to_document(&mut self, name: StrTendril, public_id: StrTendril, system_id: StrTendril) {
        let node = self.make(Data::Doctype(name, public_id, system_id));
        self.link(1, NONE, node)
    }
    fn get_template_contents(&mut self, target: &Handle) -> Handle {
        match self.at(*target).data {
            Data::Element { contents, .. } => contents,
            _ => NONE,
        }
    }
    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x == y
    }
    fn set_quirks_mode(&mut self, _: QuirksMode) {}
    fn append_before_sibling(&mut self, sibling: &Handle, child: NodeOrText<Handle>) {
        let parent = self.at(*sibling).parent;
        self.insert(parent, *sibling, child)
    }
    fn add_attrs_if_missing(&mut self, target: &Handle, more: Vec<Attribute>) {
        if let Data::Element { attributes, .. } = &mut self.at(*target).data {
            for attribute in more {
                if !attributes.iter().any(|has| has.name == attribute.name) {
                    attributes.push(attribute)
                }
            }
        }
    }
    fn remove_from_parent(&mut self, target: &Handle) {
        self.detach(*target)
    }
    fn reparent_children(&mut self, node: &Handle, parent: &Handle) {
        while self.at(*node).first != NONE {
            let child = self.at(*node).first;
            self.link(*parent, NONE, child)
        }
    }
    fn is_mathml_annotation_xml_integration_point(&self, handle: &Handle) -> bool {
        matches!(self.nodes[*handle as usize].data, Data::Element { annotation: true, .. })
    }
}

fn parse(page: &StrTendril) -> Tree {
    let mut options = ParseOpts::default();
    options.tree_builder.scripting_enabled = false;
    parse_document(Tree::new(), options).one(page.clone())
}

fn prefix(name: &QualName) -> &'static str {
    match name.ns {
        ns!(svg) => "svg ",
        ns!(mathml) => "math ",
        ns!(xlink) => "xlink ",
        ns!(xml) => "xml ",
        ns!(xmlns) => "xmlns ",
        _ => "",
    }
}

fn dump(tree: &Tree, parent: Handle, depth: usize, out: &mut String) {
    let mut child = tree.nodes[parent as usize].first;
    while child != NONE {
        let node = &tree.nodes[child as usize];
        let _ = write!(out, "| {:1$}", "", 2 * depth);
        match &node.data {
            Data::Document => {}
            Data::Doctype(name, public_id, system_id) => {
                let _ = write!(out, "<!DOCTYPE {}", name);
                if !public_id.is_empty() || !system_id.is_empty() {
                    let _ = write!(out, " \"{}\" \"{}\"", public_id, system_id);
                }
                out.push_str(">\n")
            }
            Data::Text(text) => {
                let _ = writeln!(out, "\"{}\"", text);
            }
            Data::Comment(text) => {
                let _ = writeln!(out, "<!-- {} -->", text);
            }
            Data::Instruction(target, data) => {
                let _ = writeln!(out, "<?{} {}?>", target, data);
            }
            Data::Element { name, attributes, contents, .. } => {
                let _ = writeln!(out, "<{}{}>", prefix(name), name.local);
                let mut lines: Vec<_> =
                    attributes.iter().map(|a| (format!("{}{}", prefix(&a.name), a.name.local), &a.value)).collect();
                lines.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
                for (name, value) in lines {
                    let _ = writeln!(out, "| {:3$}{}=\"{}\"", "", name, value, 2 * depth + 2);
                }
                if name.expanded() == expanded_name!(html "template") {
                    let _ = writeln!(out, "| {:1$}content", "", 2 * depth + 2);
                    dump(tree, *contents, depth + 2, out)
                }
                dump(tree, child, depth + 1, out)
            }
        }
        child = node.next
    }
}

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

fn serve() {
    let list = std::fs::read_to_string(std::env::args().nth(1).expect("a list of pages")).unwrap();
    let pages: Vec<StrTendril> =
        list.lines().map(|path| StrTendril::from(std::fs::read_to_string(path).unwrap())).collect();
    let out = std::io::stdout();
    println!("html5ever {}", env!("HTML5EVER"));
    for line in std::io::stdin().lock().lines().map(|line| line.unwrap()) {
        let words: Vec<_> = line.splitn(3, ' ').collect();
        let answer = match words[0] {
            "fresh" => {
                let times: Vec<_> = pages
                    .iter()
                    .map(|page| {
                        let begin = Instant::now();
                        drop(parse(page));
                        begin.elapsed().as_nanos().to_string()
                    })
                    .collect();
                times.join(" ")
            }
            "memory" => {
                let before = peak();
                let kept: Vec<_> = pages.iter().map(parse).collect();
                let grown = peak() - before;
                drop(kept);
                grown.to_string()
            }
            "dump" => {
                let mut text = String::new();
                dump(&parse(&pages[words[1].parse::<usize>().unwrap()]), 1, 0, &mut text);
                std::fs::write(words[2], text).unwrap();
                "done".to_string()
            }
            _ => "none".to_string(),
        };
        writeln!(out.lock(), "{}", answer).unwrap();
    }
}

fn main() {
    std::thread::Builder::new().stack_size(256 << 20).spawn(serve).unwrap().join().unwrap()
}
