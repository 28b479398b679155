#include "growth/shapes.h"

#include "support/random.h"

#include <string.h>

enum { MAX_TOKENS = 400 };

const char *const shape_names[SHAPES] = {"turns", "rows", "below", "closed"};

/* One class a line, its tokens apart by spaces. '#' stands for the number of the repetition, '~'
 * for a space, and '^' for a NUL. */
static const char *const classes[] = {
    "<html~k#> <body~k#> <head> </head> </body> </html>",
    "<frameset> <frame> </frameset>",
    "<!DOCTYPE~html> <!--c--> <!-- --> --!> <?x~y?> </> <!x> < & &#x &notit; &amp; ' \" = >",
    "x ~ \n \r\n ^ \xc3\xa9 \xff ]]> -- </",
    "<![CDATA[ <![CDATA[x]]>",
    "<p~ <p~k=' a# k=v class=c# id=d",
    "<title> <textarea> <title>x</title> </title>",
    "<style> <style>@import~'u';</style> <xmp> <iframe> <noembed> <noframes> <noscript>",
    "<script> <script></script> <script><!-- </script> <script~src=u></script>",
    "<base~href=u> <link~rel=stylesheet~href=u> <meta~name=viewport~content=v>",
    "<template> <template~shadowrootmode=open> </template>",
    "<p> </p> <address> <div> <div~class=c~id=d~lang=en> </div> <section> <center>",
    "<ul> <li> <dl> <dd> <dt> </li> </dd>",
    "<h1> <h2> </h1> <pre> <listing> <hr>",
    "<form> </form> <button> </button> <fieldset> <legend> <label>",
    "<input> <input~type=hidden> <input~type=image~src=u> <img~src=u> <br> </br> <image> <param> <area>",
    "<select> </select> <option> <option~selected> </option> <optgroup> <selectedcontent> <datalist>",
    "<picture> </picture> <source~srcset=u> <video~poster=u> <audio> <track> <embed>",
    "<table> </table> <caption> <colgroup> <col> <tbody> <thead> <tr> <td> <th> </td> </tr> </tbody>",
    "<a> <a~href=u#> <a~k=#> </a> <b> <b~k=#> </b> <i~k=#> </i> <nobr> <font~color=v> <u>",
    "<applet> </applet> <object> <marquee>",
    "<svg> <path> <g> <foreignObject> <desc> <svg~viewBox=v> </svg> </g> <svg><style>",
    "<math> <mi> <mo> <annotation-xml> <annotation-xml~encoding=text/html> <mglyph> </math> </mi>",
    "<ruby> <rb> <rt> <rtc> <rp>",
    "<span> </span> <x> </x> <x#> </x#> <details> <summary> <dialog> <plaintext>",
};
enum { CLASSES = sizeof classes / sizeof *classes };

static char texts[16384];
static char *next_text = texts;
static const char *tokens[MAX_TOKENS]; /* those of the classes come first */
static unsigned token_count, all_count, class_starts[CLASSES + 1];

/* Adds the token before the next space of the text. Returns the rest of the text. */
static const char *add_token(const char *from) {
  tokens[all_count++] = next_text;
  for (; *from && *from != ' '; from++) *next_text++ = *from == '~' ? ' ' : *from;
  *next_text++ = 0;
  return *from ? from + 1 : from;
}

static void read_classes(void) {
  if (token_count) return;
  for (unsigned class = 0; class < CLASSES; class ++) {
    class_starts[class] = all_count;
    for (const char *at = classes[class]; *at;) at = add_token(at);
  }
  token_count = class_starts[CLASSES] = all_count;
}

bool shape_read(const char *line, shape_case *of) {
  read_classes();
  *of = (shape_case){.shape = SHAPES};
  size_t length = strcspn(line, " ");
  for (int i = 0; i < SHAPES; i++)
    if (length == strlen(shape_names[i]) && !memcmp(line, shape_names[i], length)) of->shape = (shape)i;
  const char *at = line + length + (line[length] == ' ');
  for (; *at && of->count < 3 && all_count < MAX_TOKENS; at = add_token(at)) {
    if ((size_t)(next_text - texts) + strlen(at) >= sizeof texts) return false;
    of->tokens[of->count++] = all_count;
  }
  return of->shape < SHAPES && of->count > 1 && !*at;
}

unsigned shape_token_count(void) {
  read_classes();
  return token_count;
}

const char *shape_token(unsigned index) {
  read_classes();
  return tokens[index];
}

uint64_t shape_pair_count(void) { return (uint64_t)SHAPES * shape_token_count() * token_count; }
uint64_t shape_case_count(void) { return shape_pair_count() * (1 + (uint64_t)token_count); }

shape_case shape_case_at(uint64_t number) {
  shape_case made = {.count = 2};
  if (number >= shape_pair_count()) {
    number -= shape_pair_count();
    made.count = 3;
  }
  for (unsigned i = 0; i < made.count; i++, number /= token_count) made.tokens[i] = (unsigned)(number % token_count);
  made.shape = (shape)number;
  return made;
}

uint64_t shape_random_triple(uint64_t seed) {
  random_state random = {seed};
  uint64_t number = random_below(&random, SHAPES);
  read_classes();
  for (int i = 0; i < 3; i++) {
    size_t class = random_below(&random, CLASSES);
    unsigned start = class_starts[class];
    number = number * token_count + start + random_below(&random, class_starts[class + 1] - start);
  }
  return shape_pair_count() + number;
}

static void write_token(const char *token, size_t number, buffer *to) {
  for (; *token; token++)
    if (*token == '#')
      buffer_format(to, "%zu", number);
    else
      buffer_byte(to, *token == '^' ? 0 : *token);
}

/* Writes the end tag of a start tag. */
static void write_end(const char *token, size_t number, buffer *to) {
  char name[64] = "</";
  if (token[0] != '<' || (unsigned char)((token[1] | 0x20) - 'a') >= 26) return;
  strncat(name, token + 1, strcspn(token + 1, " >"));
  strcat(name, ">");
  write_token(name, number, to);
}

static void write_turn(const shape_case *of, size_t number, buffer *to) {
  for (unsigned i = 0; i < of->count; i++) write_token(tokens[of->tokens[i]], number, to);
  if (of->shape != SHAPE_CLOSED) return;
  for (unsigned i = of->count; i-- > 0;) write_end(tokens[of->tokens[i]], number, to);
}

void shape_write(const shape_case *of, size_t n, buffer *to) {
  buffer_clear(to);
  buffer_byte(to, ' '); /* an empty buffer has no bytes */
  if (of->shape == SHAPE_TURNS || of->shape == SHAPE_CLOSED) {
    for (size_t i = 0; i < n; i++) write_turn(of, i, to);
    return;
  }
  for (unsigned token = 0; token < of->count; token++)
    for (size_t i = 0; i < (of->shape == SHAPE_BELOW && !token ? 1 : n); i++)
      write_token(tokens[of->tokens[token]], i, to);
}
