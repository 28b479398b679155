/* Checks hpar_resources: the kinds, what browsers leave out, imports of style sheets, pictures,
 * templates, and the table of preload scanners if the shared data is there. */

#include "check.h"
#include "support/buffer.h"
#include "support/shared.h"

#include <hpar/hpar.h>
#include <stdlib.h>

static hpar_parser *parser;
static hpar_document *document;
static buffer out;

static void put(const char *name, hpar_string value) {
  if (value.bytes) buffer_format(&out, " %s[%.*s]", name, (int)value.length, value.bytes);
}

static hpar_status collect(const hpar_resource *r, void *context) {
  (void)context;
  buffer_text(&out, hpar_resource_kind_name(r->kind));
  if (r->flags & HPAR_RESOURCE_ASYNC) buffer_text(&out, " async");
  if (r->flags & HPAR_RESOURCE_DEFER) buffer_text(&out, " defer");
  if (r->flags & HPAR_RESOURCE_LAZY) buffer_text(&out, " lazy");
  if (r->flags & HPAR_RESOURCE_SOURCE) buffer_text(&out, " source");
  if (r->flags & HPAR_RESOURCE_ALTERNATE) buffer_text(&out, " alternate");
  if (r->picture) buffer_text(&out, " picture");
  put("url", r->url);
  put("srcset", r->srcset);
  put("sizes", r->sizes);
  put("media", r->media);
  put("type", r->type);
  put("as", r->as);
  put("crossorigin", r->crossorigin);
  put("integrity", r->integrity);
  put("referrerpolicy", r->referrerpolicy);
  put("fetchpriority", r->fetchpriority);
  put("charset", r->charset);
  put("nonce", r->nonce);
  put("content", r->content);
  buffer_text(&out, "\n");
  return HPAR_OK;
}

static void parse(const char *html, size_t length) {
  CHECK_EQ(hpar_parse(parser, NULL, html, length, document, NULL), HPAR_OK);
  buffer_clear(&out);
}

static void check_resources(const char *html, const char *expected) {
  parse(html, strlen(html));
  CHECK_EQ(hpar_resources(document, hpar_document_root(document), collect, NULL), HPAR_OK);
  if (!CHECK_BYTES(out.bytes, out.length, expected, strlen(expected))) printf("  input: %s\n", html);
}

static void scripts(void) {
  check_resources("<script src=a></script><script src=b async crossorigin integrity=c></script>",
                  "script url[a]\nscript async url[b] crossorigin[] integrity[c]\n");
  check_resources("<script src=a defer charset=x nonce=n></script><script type=module src=b></script>",
                  "script defer url[a] charset[x] nonce[n]\nmodule url[b] type[module]\n");
  check_resources("<script>1</script><script src></script><script src='' defer></script>", "");
  check_resources("<script src=a type></script><script src=b type=' TEXT/JavaScript '></script>",
                  "script url[a] type[]\nscript url[b] type[ TEXT/JavaScript ]\n");
  check_resources("<script src=a type=' '></script><script src=b type=text/plain></script>", "");
  check_resources("<script src=a type='text/javascript;x'></script><script src=b type=importmap></script>"
                  "<script src=c type=application/javascript1.0></script>",
                  "");
  check_resources("<script src=a language=JavaScript1.2></script><script src=b language=vbscript></script>",
                  "script url[a]\n");
  check_resources("<script src=a language=vbscript type=''></script>", "script url[a] type[]\n");
  check_resources("<script src=a nomodule></script><script src=b nomodule type=module></script>",
                  "module url[b] type[module]\n");
  check_resources(
      "<script src=a for=window event=onfoo></script><script src=b for=' Window ' event='onload()'></script>",
      "script url[b]\n");
  check_resources("<script src=a for=x></script>", "script url[a]\n");
  check_resources("<script src=a for=window event=' onload '></script>", "script url[a]\n");
  check_resources("<svg><script href=a xlink:href=b></script><script xlink:href=c /><script src=d /></svg>",
                  "script url[a]\nscript url[c]\n");
  check_resources("<math><script src=a></script></math>", "");
  check_resources("<script src='a&amp;b&quot;'></script>", "script url[a&b\"]\n");
}

static void links(void) {
  check_resources("<link href=a><link rel=stylesheet><link rel=stylesheet href><link rel='x StyleSheet' href=b>",
                  "style url[b]\n");
  check_resources("<link rel='alternate stylesheet' href=a><link rel=stylesheet disabled href=b>", "");
  check_resources("<link rel=stylesheet href=a type='text/css; charset=x'><link rel=stylesheet href=b type=text/plain>",
                  "style url[a] type[text/css; charset=x]\n");
  check_resources("<link rel=stylesheet href=a media='not all'><link rel=stylesheet href=b media='NOT  ALL , not all'>",
                  "");
  check_resources("<link rel=stylesheet href=a media='not all, print'><link rel=stylesheet href=b media=notall>",
                  "style url[a] media[not all, print]\nstyle url[b] media[notall]\n");
  check_resources("<link rel=stylesheet href=a media=''><link rel=stylesheet href=b media=' '>",
                  "style url[a] media[]\nstyle url[b] media[ ]\n");
  check_resources("<link rel=preload as=style href=a><link rel=preload as=font href=b crossorigin>"
                  "<link rel=preload href=c><link rel=preload as=video href=d>",
                  "preload url[a] as[style]\npreload url[b] as[font] crossorigin[]\n");
  check_resources("<link rel=preload as=style type=image/png href=a><link rel=preload as=image type=image/png href=b>"
                  "<link rel=preload as=font type=font/woff2 href=c><link rel=preload as=font type=text/css href=d>"
                  "<link rel=preload as=script type=text/css href=e><link rel=preload as=track type=text/vtt href=f>"
                  "<link rel=preload as=fetch type=x/y href=g>",
                  "preload url[b] type[image/png] as[image]\npreload url[c] type[font/woff2] as[font]\n"
                  "preload url[f] type[text/vtt] as[track]\npreload url[g] type[x/y] as[fetch]\n");
  check_resources("<link rel=preload as=image type=image/ href=a><link rel=preload as=image type=image href=b>",
                  "preload url[a] type[image/] as[image]\n");
  check_resources("<link rel=preload as=image imagesrcset='a 1x' imagesizes=b fetchpriority=high>"
                  "<link rel=preload as=style imagesrcset=c>",
                  "preload srcset[a 1x] sizes[b] as[image] fetchpriority[high]\n");
  check_resources("<link rel=modulepreload href=a><link rel='dns-prefetch preconnect' href=b><link rel='shortcut icon' "
                  "href=c><link rel=manifest href=d>",
                  "modulepreload url[a]\npreconnect url[b]\ndns-prefetch url[b]\nicon url[c]\nmanifest url[d]\n");
  check_resources("<frameset><link rel=stylesheet href=a></frameset>", "");
  check_resources("<link rel='stylesheet ALTERNATE' title href=a><link rel='alternate stylesheet' title=x href=b>"
                  "<link rel=alternate title=x href=c>",
                  "style alternate url[b]\n");
  check_resources("<link rel='PREFETCH stylesheet' href=a><link rel=prefetch>", "style url[a]\nprefetch url[a]\n");
}

static void embedded(void) {
  check_resources("<iframe src=a loading=Lazy></iframe><iframe src=b srcdoc></iframe><iframe></iframe>",
                  "frame lazy url[a]\n");
  check_resources("<frameset><frame src=a><frame src></frameset>", "frame url[a]\n");
  check_resources("<object data=a type=x/y><embed src=b type=z/w></object><embed><object src=c></object>",
                  "object url[a] type[x/y]\nobject url[b] type[z/w]\n");
  check_resources("<p><embed src=a><embed src=b><img src=c><embed>d", "object url[a]\nobject url[b]\nimage url[c]\n");
  check_resources("<video poster=a><source src=b type=video/mp4><source src=c><track src=d></video>",
                  "poster url[a]\nmedia source picture url[b] type[video/mp4]\nmedia source picture url[c]\n"
                  "track url[d]\n");
  check_resources("<audio crossorigin=USE-credentials><source src=a media='not all'><source src=b media=print>"
                  "<source srcset=c><source src><source src=d type=text/plain><source src=e type='Audio/x;y'></audio>",
                  "media source picture url[b] media[print] crossorigin[use-credentials]\n"
                  "media source picture url[e] type[Audio/x;y] crossorigin[use-credentials]\n");
  check_resources("<video src><source src=a></video><source src=b><audio><p><source src=c></p></audio>", "");
  check_resources("<audio crossorigin=x><source src=a><video><source src=b><audio src=c><source src=d></audio>"
                  "<source src=e></video><source src=f></audio>",
                  "media source picture url[a] crossorigin[]\nmedia source picture url[b]\nmedia url[c]\n"
                  "media source picture url[e]\nmedia source picture url[f] crossorigin[]\n");
  check_resources("<audio><table><source src=a><tr><td><source src=b></table><source src=c>",
                  "media source picture url[a]\nmedia source picture url[c]\n");
  check_resources("<picture><source src=a><video><source src=b srcset=c><img src=d></video><source srcset=e><img>",
                  "media source picture url[b]\nimage url[d]\nimage source picture srcset[e]\n");
  check_resources("<template><video><source src=a></video></template>", "");
  check_resources("<video poster=a src=b crossorigin><source src=c><track src=d></video><audio src=e></audio>",
                  "poster url[a] crossorigin[]\nmedia url[b] crossorigin[]\ntrack url[d]\nmedia url[e]\n");
  check_resources("<svg><audio src=a /><embed src=b></svg>", "object url[b]\n");
  check_resources("<template><iframe src=a></iframe><embed src=b></template>", "");
}

static void refreshes(void) {
  static const struct {
    const char *content, *url;
  } cases[] = {{"0;url=a", "a"},
               {" 5 , URL = 'a b' x", "a b"},
               {"1; &quot;a", "a"},
               {"1;url", "url"},
               {"1.5.2; urls=x", "urls=x"},
               {".;a", "a"},
               {"3 a", "a"},
               {"0;u=x", "u=x"},
               {"0", NULL},
               {"0;", NULL},
               {"x;url=a", NULL},
               {"1a;url=b", NULL},
               {"-1;url=a", NULL},
               {"0;url=''a", NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char html[128], expected[128] = "";
    const bool is_quoted = strstr(cases[i].content, "&quot;");
    snprintf(html, sizeof html, "<meta http-equiv=Refresh content=\"%s\">", cases[i].content);
    if (cases[i].url)
      snprintf(expected, sizeof expected, "refresh url[%s] content[%s]\n", cases[i].url,
               is_quoted ? "1; \"a" : cases[i].content);
    check_resources(html, expected);
  }
}

static void images(void) {
  check_resources("<img src=a><img srcset='b 1x' sizes=c><img><img src=''><image src=d><img data-src=e>",
                  "image url[a]\nimage srcset[b 1x] sizes[c]\nimage url[d]\n");
  check_resources("<img src=a loading=LAZY crossorigin=use-credentials referrerpolicy=no-referrer>",
                  "image lazy url[a] crossorigin[use-credentials] referrerpolicy[no-referrer]\n");
  check_resources("<picture><source srcset=a media=print sizes=s><source srcset=b type=text/plain><source src=c>"
                  "<br><source srcset=d type=image/webp><img src=e></picture><img src=f>",
                  "image source picture srcset[a] sizes[s] media[print]\n"
                  "image source picture srcset[d] type[image/webp]\nimage picture url[e]\nimage url[f]\n");
  check_resources("<picture><source srcset=a><img loading=lazy><source srcset=b><img src=c><source srcset=d></picture>",
                  "image lazy source picture srcset[a]\nimage source picture srcset[b]\nimage picture url[c]\n");
  check_resources("<picture><source srcset=a></picture><picture><source srcset=b media='not all'><img></picture>", "");
  check_resources("<picture><source srcset=a><p><img src=b></p></picture><source srcset=c><img>", "image url[b]\n");
  check_resources("<input type=IMAGE src=a><input src=b><input type=text src=c><video poster=d src=e></video>",
                  "image url[a] type[IMAGE]\nposter url[d]\nmedia url[e]\n");
  check_resources("<svg><image href=a /><image xlink:href=b></image><image src=c /></svg>",
                  "image url[a]\nimage url[b]\n");
  check_resources("<svg><use href='a#b'/><use xlink:href=c /><use href=d xlink:href=e></use><use href='#f'/><use href/>"
                  "<use href='#g' xlink:href=h /><use xlink:href='&#35;i'/><use href='&amp;j'/><use href=' #k'/></svg>",
                  "image url[a#b]\nimage url[c]\nimage url[d]\nimage url[&j]\nimage url[ #k]\n");
  check_resources("<svg><filter><feImage href=a /><FEIMAGE xlink:href=b></feImage><feImage href='#c'/></filter></svg>",
                  "image url[a]\nimage url[b]\n");
  check_resources("<use href=a></use><feimage href=b></feimage><math><use href=c /></math>", "");
  check_resources("<svg><desc><use href=a></use><svg><use href=b /></desc></svg>", "image url[b]\n");
}

static void backgrounds(void) {
  check_resources("<body background=a><table background=b><thead background=c><tr background=d><th background=e>x"
                  "<tbody background=f><tr><td background=g>x<td background='h&amp;'>x<tfoot background=i></table>",
                  "image url[a]\nimage url[b]\nimage url[c]\nimage url[d]\nimage url[e]\nimage url[f]\nimage url[g]\n"
                  "image url[h&]\nimage url[i]\n");
  check_resources("<table><caption background=a><col background=b><tr><td background><td bgcolor=c>x</table>"
                  "<p background=d><td background=e><div background=f><svg background=g><td background=h /></svg>",
                  "");
  check_resources("<p><body id=x><body id=y background=a><body background=b>", "image url[a]\n");
  check_resources("<body background=''><body background=a>", "");
  check_resources("<html background=a><body><html background=b>", "");
  check_resources("<template><table background=a><body background=b></template><template><td background=c></template>",
                  "");
}

static void modules(void) {
  check_resources(
      "<script type=module>import x from './a.js';import \"./b.js\";export * from './c.js'\n"
      "import{y}from\"d\";export{z as 'from'} from './e.js'; import f, * as g from './f.js' with {type:'json'};"
      "import h,{i as j,'k' as l}from'./h.js';export * as m from './m.js';import from, {n} from './n.js'</script>",
      "module-import url[./a.js] type[module]\nmodule-import url[./b.js] type[module]\n"
      "module-import url[./c.js] type[module]\nmodule-import url[d] type[module]\n"
      "module-import url[./e.js] type[module]\nmodule-import url[./f.js] type[module]\n"
      "module-import url[./h.js] type[module]\nmodule-import url[./m.js] type[module]\n"
      "module-import url[./n.js] type[module]\n");
  check_resources(
      "<script type=Module nonce=n>// import 'a'\n/* import 'b' */let s=\"import 'c'\",t=`import 'd'${`}import "
      "'e'`+{import:1}}import 'f'`,r=/[/]import 'g'/.x/2/import.meta/1;import('h');a.import 'i';{import 'j'}"
      "x=1/2;import 'k';export{l};export const from='m';export default /'/;import /**/ '\\x61\\u0062\\u{63}"
      "\\ud83d\\ude00\\\n\\n\\q';import '';import</script>",
      "module-import url[k] type[Module] nonce[n]\n"
      "module-import url[abc\xF0\x9F\x98\x80\nq] type[Module] nonce[n]\n");
  check_resources("<script>import 'a'</script><script type=module src>import 'b'</script><script type=module></script>"
                  "<template><script type=module>import 'c'</script></template>"
                  "<svg><script type=module>import 'd'</script></svg><script type=module src=e>import 'f'</script>",
                  "module url[e] type[module]\n");
  check_resources("<script type=module>import '\\u{0000061}';i++ /2;import 'b';i-- /2;import 'c';x=1.\nimport 'd';"
                  "1. / 2;import 'e'</script>",
                  "module-import url[a] type[module]\nmodule-import url[b] type[module]\n"
                  "module-import url[c] type[module]\nmodule-import url[d] type[module]\n"
                  "module-import url[e] type[module]\n");
  check_resources(
      "<script type=' importmap '>{\"imports\":{\"a\":\"./b\"}}</script><script type=importmap src=c>{}</script>",
      "importmap type[ importmap ] content[{\"imports\":{\"a\":\"./b\"}}]\n");
}

static void styles(void) {
  check_resources("<style>@import 'a'; @import\"b\" print;@import url(c);@import url( \"d\" ) layer(x) screen ; p{}"
                  "@import 'e'</style>",
                  "import url[a] content[]\nimport url[b] content[print]\nimport url[c] content[]\n"
                  "import url[d] content[layer(x) screen]\n");
  check_resources("<style>/* @import 'a' */ @charset 'x'; <!-- @layer p, q; @IMPORT URL(b\\)c) --> ;</style>",
                  "import url[b)c] content[]\n");
  check_resources("<style>@import 'a</style><style>@import url(b</style><style>@import</style><style></style>",
                  "import url[a] content[]\nimport url[b] content[]\n");
  check_resources("<style>@imports 'a';</style><style>p{} @import 'a';</style><style>@layer a {} @import 'b';</style>",
                  "");
  check_resources("<style>@import '';@import 'a\\'b';@import 'c' x\";\";@import d;@import 'e'</style>",
                  "import url[a'b] content[]\nimport url[c] content[x\";\"]\nimport url[e] content[]\n");
  check_resources(
      "<style>@import 'r/\\61.css';@\\69mport 'a\\\nb\\\\c';@\\49 MPORT u\\52l(\\00e9\\20 \\1F600  );</style>",
      "import url[r/a.css] content[]\nimport url[ab\\c] content[]\n"
      "import url[\xC3\xA9 \xF0\x9F\x98\x80] content[]\n");
  check_resources("<style>@import '\\10FFFF x'</style><script type=module>import '\\u{10ffff}'</script>",
                  "import url[\xF4\x8F\xBF\xBFx] content[]\nmodule-import url[\xF4\x8F\xBF\xBF] type[module]\n");
  check_resources(
      "<style>@import '\\0\\d800\\110000 x\\';</style><style>@\\69mports 'a'</style><style>@import\\20'a'</style>",
      "import url[\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx';] content[]\n");
  check_resources("<style>@import 'a\\g'</style>", "import url[ag] content[]\n");
  check_resources("<style>@import 'a' 'x\n;@import 'b'</style>",
                  "import url[a] content['x]\nimport url[b] content[]\n");
  check_resources("<style type=text/plain>@import 'a'</style><style media='not all'>@import 'a'</style>", "");
  check_resources("<style media=print nonce=n>@import 'a' not all;@import 'b'</style>",
                  "import url[b] media[print] nonce[n] content[]\n");
  check_resources("<svg><style>@import 'a'</style></svg>", "import url[a] content[]\n");
  check_resources("<style>/*/@import 'a';/**/@import 'b'</style>", "import url[b] content[]\n");
  check_resources("<style>/*</style><style>@import 'a' /*</style><style>@import 'b' /</style>",
                  "import url[a] content[]\nimport url[b] content[/]\n");
}

/* An escape at the end of the input does not take the bytes after it. */
static void cut_escapes(void) {
  static const char *const ends[] = {"\\x4|1", "\\u{4|1}", "\\u|{41}", "\\u004|1"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    buffer html = {0};
    buffer_format(&html, "<script type=module>import '%s", ends[i]);
    char *cut = strchr(html.bytes, '|');
    memmove(cut, cut + 1, strlen(cut));
    parse(html.bytes, (size_t)(cut - html.bytes));
    CHECK_EQ(hpar_resources(document, hpar_document_root(document), collect, NULL), HPAR_OK);
    CHECK(out.length && !memchr(out.bytes, 'A', out.length));
    /* memory of exactly this size, so that a sanitizer detects a read past the end */
    char *exact = malloc((size_t)(cut - html.bytes));
    memcpy(exact, html.bytes, (size_t)(cut - html.bytes));
    parse(exact, (size_t)(cut - html.bytes));
    CHECK_EQ(hpar_resources(document, hpar_document_root(document), collect, NULL), HPAR_OK);
    free(exact);
    buffer_free(&html);
  }
}

static void metas(void) {
  check_resources("<base><base href=a target=b><meta name=viewport content=c><meta name=Referrer content=d>",
                  "base url[a]\nviewport content[c]\nreferrer content[d]\n");
  check_resources("<meta http-equiv=Content-Security-Policy content=\"img-src 'none'\"><meta name=viewport>"
                  "<meta name=keywords content=e>",
                  "policy content[img-src 'none']\n");
}

static void templates(void) {
  check_resources("<template><img src=a><script src=b></script></template><img src=c>", "image url[c]\n");
  check_resources("<div><template shadowrootmode=open><img src=a><p><img src=b></template><img src=c></div>",
                  "image url[a]\nimage url[b]\nimage url[c]\n");
  check_resources("<x-y><template shadowrootmode=CLOSED><img src=a></template></x-y><a><template shadowrootmode=open>"
                  "<img src=b></template></a>",
                  "image url[a]\n");
  check_resources("<div><template shadowrootmode=x><img src=a></template></div>", "");
  check_resources("<template><div><template shadowrootmode=open><img src=a></template></div></template>", "");
  check_resources("<div><template shadowrootmode=open><template><img src=a></template><div><template "
                  "shadowrootmode=open></template><img src=b></div></template></div><img src=c>",
                  "image url[b]\nimage url[c]\n");
  buffer html = {0};
  for (int i = 0; i < 20; i++) buffer_format(&html, "<div><template shadowrootmode=open><img src=%d>", i);
  check_resources(html.bytes, "image url[0]\nimage url[1]\nimage url[2]\nimage url[3]\nimage url[4]\nimage url[5]\n"
                              "image url[6]\nimage url[7]\nimage url[8]\nimage url[9]\nimage url[10]\nimage url[11]\n"
                              "image url[12]\nimage url[13]\nimage url[14]\nimage url[15]\n");
  buffer_free(&html);
}

static hpar_status count_down(const hpar_resource *resource, void *context) {
  (void)resource;
  return --*(int *)context > 0 ? HPAR_OK : HPAR_STOP;
}

static void calls(void) {
  static const char html[] = "<picture><source srcset=1><img src=2></picture><p><img src=3></p><img src=4>";
  parse(html, strlen(html));
  hpar_node root = hpar_document_root(document), p = HPAR_NO_NODE;
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node))
    if (hpar_node_name(document, node).length == 1) p = node;
  CHECK_EQ(hpar_resources(document, p, collect, NULL), HPAR_OK);
  CHECK_BYTES(out.bytes, out.length, "image url[3]\n", strlen("image url[3]\n"));
  for (int count = 1; count <= 4; count++) {
    int left = count;
    CHECK_EQ(hpar_resources(document, root, count_down, &left), HPAR_OK);
    CHECK_EQ(left, 0);
  }
  buffer_clear(&out);
  CHECK_EQ(hpar_resources(document, HPAR_NO_NODE, collect, NULL), HPAR_OK);
  CHECK_EQ(out.length, 0);
  CHECK_EQ(hpar_resources(NULL, root, collect, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_resources(document, root, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(!hpar_resource_kind_name(HPAR_RESOURCE_KINDS));
  CHECK_STRING(hpar_resource_kind_name(HPAR_RESOURCE_DNS_PREFETCH), "dns-prefetch");
}

/* What a caller with a viewport of 400 pixels and simple policies loads at once. */
typedef struct loader {
  bool images_forbidden, loads;
} loader;

static bool contains(hpar_string s, const char *text) {
  return s.length && memmem(s.bytes, s.length, text, strlen(text));
}

static hpar_status load(const hpar_resource *r, void *context) {
  loader *l = context;
  if (r->kind == HPAR_RESOURCE_POLICY) l->images_forbidden |= contains(r->content, "img-src 'none'");
  if (!contains(r->url, "URL") && !contains(r->srcset, "URL")) return HPAR_OK;
  if (r->flags & HPAR_RESOURCE_LAZY || contains(r->media, "min-width: 401px")) return HPAR_OK;
  if (r->kind != HPAR_RESOURCE_IMAGE || !l->images_forbidden) l->loads = true;
  return HPAR_OK;
}

static void check_row(char *row) {
  char *markup = strchr(row, '\t'), *fetched = markup ? strchr(markup + 1, '\t') : NULL;
  if (!CHECK(fetched)) return;
  *fetched++ = 0;
  loader l = {false, false};
  parse(markup + 1, strlen(markup + 1));
  CHECK_EQ(hpar_resources(document, hpar_document_root(document), load, &l), HPAR_OK);
  if (!CHECK_EQ(l.loads, !strncmp(fetched, "yes", 3))) printf("  %s\n", row);
}

static int check_table(void) {
  char path[4096];
  size_t length;
  if (!shared_path(path, sizeof path, "document-write/preload.tsv")) return CHECK_SKIPPED;
  char *table = shared_read(path, &length), *next = table;
  if (!CHECK(table)) return check_report();
  for (char *row = strsep(&next, "\n"); (row = strsep(&next, "\n")) && *row;) check_row(row);
  free(table);
  return check_report();
}

int main(int count, char **arguments) {
  int status;
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  if (check_part(count, arguments, "table")) {
    status = check_table();
  } else {
    scripts();
    links();
    embedded();
    refreshes();
    images();
    backgrounds();
    modules();
    styles();
    cut_escapes();
    metas();
    templates();
    calls();
    status = check_report();
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  buffer_free(&out);
  return status;
}
