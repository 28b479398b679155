"""Writes a C program that calls every public function with each pointer argument NULL in turn.

  null_arguments.py INCLUDE_FOLDER >program.c

The program reads the prototypes of the headers. Each call runs in a child process. No call may end
it; a function that returns a status must return HPAR_ERROR_ARGUMENT, unless its contract lets the
argument be NULL (MAY_BE_NULL). A function with an unknown type of parameter is an error, so that a
new function must join this test.
"""

import pathlib
import re
import sys

# Values of parameters: by name, else by type.
BY_NAME = {
    'length': 'LENGTH', 'name_length': '1', 'count': '1', 'capacity': 'sizeof buffer', 'ns': 'HPAR_NAMESPACE_HTML',
    'where': 'HPAR_WHERE_AFTER', 'bytes': 'page', 'content': 'page', 'data': 'page', 'label': '"utf-8"', 'name': '"n"',
    'selector': 'HPAR_ANY_SELECTOR', 'before': 'HPAR_NO_NODE', 'index': '0', 'first': '0', 'max_errors': '0',
    'buffer': 'buffer', 'value': '"v"', 'context': 'NULL', 'deep': 'false', 'scripting': None, 'flags': '0',
    'state': '"data"', 'last_start_tag': '"p"', 'text': None, 'parent': 'parent_node', 'element': None,
}
BY_TYPE = {
    'hpar_node': 'node', 'size_t': '0', 'bool': 'false', 'uint32_t': '0', 'hpar_status': 'HPAR_OK',
    'hpar_content': 'HPAR_CONTENT_TEXT', 'hpar_write_callback': 'drop', 'hpar_link_callback': 'on_link',
    'hpar_match_callback': 'on_match', 'hpar_resource_callback': 'on_resource', 'hpar_batch_callback': 'on_input',
    'hpar_page_callback': 'on_page', 'hpar_rewrite_event_callback': 'on_event', 'hpar_token_callback': 'on_token',
    'hpar_element_end_callback': 'on_element_end', 'hpar_parser *': 'parser', 'const hpar_parser *': 'parser',
    'hpar_document *': 'document', 'const hpar_document *': 'document', 'const hpar_options *': '&options', 'const struct hpar_options *': '&options',
    'hpar_stats *': '&stats', 'hpar_study_stats *': '&study_stats', 'hpar_error *': '&failure', 'const uint64_t *': '&offset', 'hpar_position *': '&position', 'hpar_node_list *': 'NULL', 'hpar_many_stats *': '&many_stats', 'hpar_input *': '&input',
    'hpar_selectors *': 'selectors', 'const hpar_selectors *': 'selectors', 
    'const hpar_select_options *': '&select_options', 'const hpar_text_options *': '&text_options',
    'const hpar_link_options *': '&link_options', 'hpar_rules *': 'rules', 'const hpar_rules *': 'compiled',
    'const hpar_rule *': '&rule',  'hpar_rewriter *': 'rewriter',
    'const hpar_rewriter *': 'rewriter', 'const hpar_rewrite_options *': '&rewrite_options',
    'hpar_rewrite_stats *': '&rewrite_stats', 'hpar_rewrite_page *': '&rewrite_page', 'hpar_editor *': 'edit', 'const hpar_editor *': 'edit',
    'hpar_document **': '&made_document', 'hpar_parser **': '&made_parser', 'hpar_selectors **': '&made_selectors',
    'hpar_rules **': '&made_rules', 'hpar_rewriter **': '&made_rewriter', 'hpar_editor **': '&made_edit',
    'hpar_frequency_table **': '&made_table', 'hpar_frequency_table *': 'table', 'const hpar_frequency *': '&row',
    'hpar_study_target *': 'NULL',
    'const char *': '"p"', 'char *': 'buffer', 'bool *': '&flag', 'size_t *': '&number', 'hpar_node *': '&made_node',
    'uint64_t *': '&offset', 'hpar_attribute *': '&attribute', 'hpar_attribute_range *': '&range',
    'hpar_string *': '&string', 'void *': 'NULL',
    'hpar_element *': 'the_element', 'const hpar_element *': 'the_element', 'hpar_element_end *': 'the_end',
    'const hpar_element_end *': 'the_end', 'hpar_text_piece *': 'the_text', 'const hpar_text_piece *': 'the_text',
    'hpar_comment *': 'the_comment', 'const hpar_comment *': 'the_comment', 'hpar_doctype *': 'the_doctype',
    'const hpar_doctype *': 'the_doctype', 'hpar_document_end *': 'the_document_end',
    'hpar_attribute_callback': 'on_attribute',
}
# Only a callback has these objects.
PLACES = {'the_element': 'ELEMENT', 'the_end': 'END', 'the_text': 'TEXT', 'the_comment': 'COMMENT',
          'the_doctype': 'DOCTYPE', 'the_document_end': 'DOCUMENT_END'}
MAY_BE_NULL = {'options', 'stats', 'error', 'context', 'wrong', 'state', 'last_start_tag'}
MAY_BE_NULL_IN = {
    ('hpar_rewriter_begin', 'write'), ('hpar_rewrite', 'write'), ('hpar_rewrite_many', 'rules'),
    ('hpar_rewrite_many', 'callback'), ('hpar_parse_many', 'callback'), ('hpar_rewriter_trace', 'callback'),
}


def prototypes(folder):
    for header in sorted(pathlib.Path(folder).glob('*.h')):
        text = re.sub(r'/\*.*?\*/', '', header.read_text(), flags=re.S)
        text = re.sub(r'^#.*?(?<!\\)$', '', text, flags=re.M)
        for result, name, parameters in re.findall(r'HPAR_API\s+([\w\s*]*?)(\w+)\(([^;]*)\);', text):
            yield ' '.join(result.split()), name, [p.strip() for p in parameters.split(',') if p.strip() != 'void']


def value_of(function, kind, name):
    value = BY_NAME.get(name) if not kind.startswith(('hpar_', 'const hpar_')) or name in ('parent', 'before', 'where', 'ns') else None
    if name == 'selector' and '*' in kind:  # the text, not the number of one in a set
        value = None
    value = value or BY_TYPE.get(kind)
    if value is None:
        if kind.startswith('hpar_') and '*' not in kind:
            return f'({kind})0'
        sys.exit(f'null_arguments: {function}: add the type {kind!r} of {name} to BY_TYPE')
    return value


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith('-'):
        sys.exit(__doc__)
    cases, functions = [], 0
    for result, function, parameters in prototypes(sys.argv[1]):
        split = [re.fullmatch(r'(.*?)(\w+)', p).groups() for p in parameters]
        split = [(' '.join(kind.split()), name) for kind, name in split]
        values = [value_of(function, kind, name) for kind, name in split]
        pointers = [i for i, (kind, _) in enumerate(split)
                    if '*' in kind or kind.endswith(('_callback', '_fn'))]
        functions += bool(pointers)
        place = next((PLACES[v] for v in values if v in PLACES), 'ANYWHERE')
        for i in pointers:
            name = split[i][1]
            call = f'{function}({", ".join("NULL" if k == i else v for k, v in enumerate(values))})'
            nullable = name in MAY_BE_NULL or (function, name) in MAY_BE_NULL_IN
            refused = result == 'hpar_status' and not nullable
            act = f'return {call} == HPAR_ERROR_ARGUMENT;' if refused else f'(void){call}; return true;'
            if result == 'void':
                act = f'{call}; return true;'
            cases.append((f'{function}: {name}', place, act))
    template = (pathlib.Path(__file__).parent / 'null_arguments.c.in').read_text()
    table = '\n'.join(f'  {{"{text}", {place}}},' for text, place, _ in cases)
    acts = '\n'.join(f'    case {n}: {act}' for n, (_, _, act) in enumerate(cases))
    print(template.replace('@CASES@', table).replace('@ACTS@', acts).replace('@FUNCTIONS@', str(functions)))


if __name__ == '__main__':
    main()
