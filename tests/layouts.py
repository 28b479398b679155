"""Writes headers and a program that test structures which begin with their size.

  layouts.py INCLUDE_FOLDER FOLDER

FOLDER/previous/hpar has the headers of an older version: each such structure lacks its last field.
FOLDER/next/hpar has those of a newer version: each structure has the field `added` at its end.
FOLDER/layouts.c calls every public function that takes such a structure, or one that points to it.
It is compiled with either version and runs with the library of this one. The error of a newer field
has to name the structure and the byte of the field. The structures and the functions come from the
headers, so that a new one joins the test. A structure that no call takes is an error. So is a field
after a structure of this kind that is a field itself: both grow at their ends. So is padding at an
end, because a newer field could be there, and programs do not initialise it.
"""

import pathlib
import re
import sys

from null_arguments import MAY_BE_NULL_IN, prototypes, value_of

# What a call needs before it.
PREPARE = {
    'hpar_parser_finish': 'hpar_parser_begin(parser, NULL, document);',
    'hpar_study_finish': 'hpar_parser_begin(parser, NULL, document);',
    'hpar_rewriter_finish': 'hpar_rewriter_begin(rewriter, compiled, NULL, drop, NULL);',
    'hpar_study_stats_of': 'hpar_parse(parser, NULL, page, LENGTH, document, NULL);',
}
# Only the library makes these arguments.
INTERNAL = {'hpar_study_target *'}
NULLS = {'options', 'stats', 'context', 'wrong', 'state', 'last_start_tag'}


def fields_of(body):
    """The declarations of a structure, each with its place in `body`, which has no comments."""
    fields, depth, start = [], 0, 0
    for i, c in enumerate(body):
        depth += (c == '{') - (c == '}')
        if c == ';' and not depth:
            fields.append((' '.join(body[start:i].split()), start, i + 1))
            start = i + 1
    return fields


def without_comments(text):
    return re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m.group()), text, flags=re.S)


def links_of(field, names):
    """The pointers to structures with a size in a declaration: pairs of a field and a structure."""
    match = re.fullmatch(r'const (?:struct )?(\w+) (\*.*)', field)
    if not match or match.group(1) not in names:
        return []
    return [(name, match.group(1)) for name in re.findall(r'(?:^|, )\*(\w+)', match.group(2))]


def embedded_in(fields, names):
    """The name of the last field if it is a structure with a size, and not a pointer to one."""
    kinds = [field.split()[0] for field, _, _ in fields]
    if any(kind in names and '*' not in fields[i][0] for i, kind in enumerate(kinds[:-1])):
        sys.exit(f'layouts: no field may follow a structure with a size: {kinds}')
    field = fields[-1][0]
    return field.split()[1] if kinds[-1] in names and '*' not in field else None


def last_of(fields):
    """The name of the last field."""
    declaration = re.sub(r'\{.*\}|\[[^]]*\]', '', fields[-1][0])
    return re.search(r'(\w+)$', declaration.strip()).group(1)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    include, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    pattern = re.compile(r'typedef struct (\w+) \{\n(  size_t size;.*?)\n\} \1;', re.S)
    headers = {header.name: header.read_text() for header in sorted(include.glob('hpar/*.h'))}
    found = {name: fields_of(without_comments(body) + '\n')
             for text in headers.values() for name, body in pattern.findall(text)}
    embedded = {name: embedded_in(fields, found) for name, fields in found.items()}
    for version in 'previous', 'next':
        (out / version / 'hpar').mkdir(parents=True)
        for file, text in headers.items():

            def change(match):
                name, body = match.groups()
                if version == 'next':
                    if embedded[name]:
                        return match.group()
                    return match.group().replace(f'\n}} {name};', f'\n  uint64_t added;\n}} {name};')
                fields = found[name][1:]
                while fields and 'reserved' in fields[-1][0]:
                    fields.pop()
                if fields and not links_of(fields[-1][0], found):
                    fields.pop()
                kept = fields[-1][2] if fields else found[name][0][2]
                if kept == found[name][-1][2]:
                    sys.exit(f'layouts: {name} has no field that an older version may lack')
                return f'typedef struct {name} {{\n{without_comments(body)[:kept]}\n}} {name};'

            (out / version / 'hpar' / file).write_text(pattern.sub(change, text))

    # How the library gets each structure: a function, and the structures on the way.
    calls = {name: [] for name in found}
    for result, function, parameters in prototypes(include / 'hpar'):
        split = [re.fullmatch(r'(.*?)(\w+)', p).groups() for p in parameters]
        split = [(' '.join(kind.split()).replace('struct ', ''), name) for kind, name in split]
        if any(kind in INTERNAL for kind, _ in split):
            continue
        for at, (kind, _) in enumerate(split):
            name = kind.removeprefix('const ').removesuffix(' *')
            if name in found and kind.endswith(' *'):
                calls[name].append((result, function, split, at, not kind.startswith('const ')))
    ways = {name: [(call, []) for call in calls[name]] for name in found}
    for _ in range(3):
        for outer, fields in found.items():
            for link, inner in [pair for field, _, _ in fields for pair in links_of(field, found)]:
                if not calls[inner] and ways[outer]:
                    way = next((w for w in ways[outer] if w[0][1] == 'hpar_parse'), ways[outer][0])
                    if all(link != l for _, path in ways[inner] for _, l in path):
                        ways[inner].append((way[0], way[1] + [(outer, link)]))

    # Where options let a call explain a failure: in their field `error`.
    explains = {name for name, fields in found.items() if any(f == 'hpar_error *error' for f, _, _ in fields)}
    cases = []
    for name, fields in found.items():
        if not ways[name]:
            sys.exit(f'layouts: no public function takes {name}, and no structure points to it')
        for (result, function, split, at, is_written), path in ways[name]:
            outermost = path[0][0] if path else name
            is_array = split[at + 1:at + 2] == [('size_t', 'count')]
            error = 'NULL'
            values = []
            options = [s for s in (kind.removeprefix('const ').removesuffix(' *') for kind, _ in split) if s in explains]
            for i, (kind, parameter) in enumerate(split):
                if kind.removeprefix('const ').removesuffix(' *') in options:
                    values.append(f'values_{options[0]}')
                elif i == at:
                    values.append(f'values_{outermost}')
                elif kind == 'hpar_error *':
                    values.append('&failure')
                    error = 'failure.text'
                elif parameter == 'path':
                    values.append('"/dev/null"')
                elif parameter == 'count' and is_array:
                    values.append('2')
                elif '*' in kind and parameter in NULLS or kind.endswith('_callback') and (function, parameter) in MAY_BE_NULL_IN:
                    values.append('NULL')
                elif kind.removeprefix('const ').removesuffix(' *') in found:
                    values.append(f"values_{kind.removeprefix('const ').removesuffix(' *')}")
                else:
                    values.append(value_of(function, kind, parameter))
                if kind.endswith('hpar_parser *') and error == 'NULL':
                    error = 'hpar_parser_error(parser)->text'
                if kind.endswith('hpar_rewriter *') and error == 'NULL':
                    error = 'hpar_rewriter_error(rewriter)->text'
            call = f'{function}({", ".join(values)})'
            if result == 'hpar_status':
                call = f'status = {call}'
            elif '*' in result or result in ('hpar_node', 'size_t'):
                call = f'status = {call} ? HPAR_OK : HPAR_ERROR_ARGUMENT'
            else:
                sys.exit(f'layouts: {function} returns {result}: nothing tells whether it worked')
            if options:
                error = f'text_of({error})'
            links = ''.join(f' EXPLAINS(values_{o}[0]);' for o in options) + ''.join(f' values_{o}[0].{l} = values_{n};' for (o, l), n in
                            zip(path, [o for o, _ in path[1:]] + [name]))
            if path:
                links += ''.join(f' SET_{kind}(values_{name}[0].{field});' for kind, field in
                                 [m.groups() for f, _, _ in fields
                                  for m in [re.fullmatch(r'(\w+_callback) (\w+)', f)] if m])
                links += f' NAME(values_{name}[0]);' if any(re.match(r'const char \*name\b', f) for f, _, _ in fields) else ''
            kind = 'ARRAY' if is_array else 'FILLED' if is_written and not path else 'READ'
            cases.append((name, function, path, kind, PREPARE.get(function, ''), call, error, links))

    def growth(name):
        return f'{embedded[name]}.added' if embedded[name] else 'added'

    template = (pathlib.Path(__file__).parent / 'layouts.c.in').read_text()
    variables = '\n'.join(f'static {name} values_{name}[2];' for name in found)
    resets = '\n'.join(f'  values_{n}[0] = values_{n}[1] = ({n}){{{n.upper()}_INIT}};' for n in found)
    acts = '\n'.join(f'    case {i}: {c[7]} {c[4]} {c[5]}; text = {c[6]}; break;' for i, c in enumerate(cases))
    adds = '\n'.join(f'    case {i}: at = &values_{c[0]}[{int(c[3] == "ARRAY")}]; '
                     f'added = &values_{c[0]}[{int(c[3] == "ARRAY")}].{growth(c[0])}; break;'
                     for i, c in enumerate(cases))
    ends = '\n'.join(f'_Static_assert({f"sizeof({n})" if embedded[n] else f"offsetof({n}, added)"} == '
                     f'offsetof({n}, {last_of(f)}) + sizeof((({n} *)0)->{last_of(f)}), "{n} ends with padding");'
                     for n, f in found.items())
    table = '\n'.join(f'    {{"{c[0]}", "{c[1]}", {c[3]}}},' for c in cases)
    (out / 'layouts.c').write_text(
        template.replace('@VARIABLES@', variables).replace('@RESETS@', resets).replace('@ACTS@', acts)
        .replace('@ADDS@', adds).replace('@ENDS@', ends).replace('@CASES@', table).replace('@STRUCTURES@', str(len(found))))


main()
