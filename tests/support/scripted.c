/* Pages with scripts of the toy engine. */

#include "support/scripted.h"

#include "support/toy.h"

#include <string.h>

static const char *const markup[] = {"<div>",
                                     "</div>",
                                     "<p>",
                                     "</p>",
                                     "<b>",
                                     "</b>",
                                     "<i class=x>",
                                     "</i>",
                                     "<a href=u>",
                                     "</a>",
                                     "<table>",
                                     "</table>",
                                     "<tr>",
                                     "<td>",
                                     "</td>",
                                     "<tbody>",
                                     "<caption>",
                                     "<col>",
                                     "<select>",
                                     "<option>",
                                     "</select>",
                                     "<svg>",
                                     "</svg>",
                                     "<math>",
                                     "<mi>",
                                     "<desc>",
                                     "<template>",
                                     "</template>",
                                     "<textarea>",
                                     "</textarea>",
                                     "<!--",
                                     "-->",
                                     "<title>",
                                     "</title>",
                                     "<style>",
                                     "</style>",
                                     "&amp;",
                                     "&not",
                                     "&#6",
                                     "4;",
                                     "<",
                                     "</",
                                     "<![CDATA[",
                                     "]]>",
                                     "<form>",
                                     "</form>",
                                     "<li>",
                                     "<h1>",
                                     "</h2>",
                                     "<body a=1>",
                                     "<html b=2>",
                                     "<frameset>",
                                     "<pre>",
                                     "\n",
                                     "\r",
                                     "\r\n",
                                     "<input type=hidden>",
                                     "<button>",
                                     "<nobr>",
                                     "<font size=1>",
                                     "<selectedcontent>",
                                     "<br>",
                                     "</br>",
                                     "<ul>",
                                     "<dd>",
                                     "<applet>"};
static const char *const words[] = {"x", " ", "ab ", "é", "1", "&", ";", "-", "]", "/", ">", "=\""};

void scripted_pieces(random_state *from, buffer *to, size_t most) {
  for (size_t n = random_below(from, most + 1); n > 0; n--)
    buffer_text(to, random_chance(from, 60) ? RANDOM_OF(from, markup) : RANDOM_OF(from, words));
}

/* Appends a program of at most `most` commands. `writes_only`: its commands only write text without
 * scripts. */
static void add_program(random_state *from, buffer *to, bool writes_only, size_t most, unsigned depth) {
  static const char changes[] = "rmbntdauhkps";
  for (size_t n = 1 + random_below(from, most); n > 0; n--) {
    buffer text = {0};
    buffer_text(&text, "");
    bool changing = !writes_only && random_chance(from, 35);
    char command = changing ? changes[random_below(from, sizeof changes - 1)] : random_chance(from, 80) ? 'w' : 'c';
    buffer_format(to, "%c ", command);
    unsigned first = (unsigned)random_below(from, 12), second = (unsigned)random_below(from, 12);
    switch (command) {
      case 'r': buffer_format(to, "%u", first); break;
      case 'm':
      case 'b':
      case 'k': buffer_format(to, "%u %u", first, second); break;
      case 'n': buffer_format(to, "%u %s", first, random_chance(from, 30) ? "template" : "div"); break;
      case 'a': buffer_format(to, "%u %s v%u", first, random_chance(from, 50) ? "a" : "class", second); break;
      case 'u': buffer_format(to, "%u %s", first, random_chance(from, 50) ? "b" : "class"); break;
      case 's': break;
      case 'p':
        buffer_format(to, "%u ", first);
        add_program(from, &text, false, most, depth + 1);
        break;
      default:
        if (command != 'w' && command != 'c') buffer_format(to, "%u ", first);
        scripted_pieces(from, &text, 4);
        if (!writes_only && depth < 3 && random_chance(from, 25)) {
          buffer_text(&text, "<script>");
          add_program(from, &text, false, most, depth + 1);
          buffer_text(&text, random_chance(from, 90) ? "</script>" : "</scr");
          scripted_pieces(from, &text, 3);
        }
    }
    toy_escape(to, text.bytes, text.length);
    buffer_byte(to, '\n');
    buffer_free(&text);
  }
}

void scripted_page(random_state *from, buffer *page, scripted_kind kind) {
  bool writes_only = kind == SCRIPTED_WRITES, is_short = kind == SCRIPTED_SHORT;
  buffer_clear(page);
  if (random_chance(from, is_short ? 20 : 50)) buffer_text(page, "<!DOCTYPE html>");
  for (size_t n = 1 + random_below(from, is_short ? 2 : 4); n > 0; n--) {
    scripted_pieces(from, page, kind == SCRIPTED_LONG ? 30 : 5);
    buffer_text(page, random_chance(from, 10) ? "<svg><script>" : "<script>");
    add_program(from, page, writes_only, is_short ? 2 : 4, 0);
    buffer_text(page, "</script>");
  }
  scripted_pieces(from, page, kind == SCRIPTED_LONG ? 60 : is_short ? 9 : 6);
}
