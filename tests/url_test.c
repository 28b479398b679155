/* Checks the URL parser on cases of the URL Standard. Compares the fast paths with the parser on
 * random URLs. */

#include "check.h"
#include "support/buffer.h"
#include "support/random.h"
#include "url/url.h"

#include <string.h>
#include <sys/mman.h>

static const struct {
  const char *base, *input, *expected; /* expected NULL: not valid */
} cases[] = {
    /* schemes */
    {NULL, "HTTP://Example.COM", "http://example.com/"},
    {NULL, " \thttp:\n//a b", NULL},
    {NULL, "http:\\\\h\\p\\..\\q", "http://h/q"},
    {NULL, "https:////h:443//x", "https://h//x"},
    {NULL, "ws://h:80/", "ws://h/"},
    {NULL, "WSS:h:443\\x", "wss://h/x"},
    {NULL, "ftp:h:21", "ftp://h/"},
    {NULL, "http://h:00080/", "http://h/"},
    {NULL, "http://h:65536/", NULL},
    {NULL, "http://h:8a/", NULL},
    {NULL, "http://", NULL},
    {NULL, "http://@/", NULL},
    {NULL, "http://u@:80/", NULL},
    {NULL, "//h", NULL},
    {NULL, "x", NULL},
    {NULL, "", NULL},
    {NULL, "1a://h", NULL},
    {NULL, "javascript:a('b', \"c\")", "javascript:a('b', \"c\")"},
    {NULL, "mailto:a b #c d", "mailto:a b%20#c%20d"},
    {NULL, "data:,\x01\xC3\xA9?'\"#`", "data:,%01%C3%A9?'%22#%60"},
    /* users, hosts */
    {NULL, "http://u:p@w@h/", "http://u:p%40w@h/"},
    {NULL, "http://:p@h/", "http://:p@h/"},
    {NULL, "http://:@h/", "http://h/"},
    {NULL, "http://u:@h/", "http://u@h/"},
    {NULL, "http://%45x%61mple.com%2E/", "http://example.com./"},
    {NULL, "http://a%00b/", NULL},
    {NULL, "http://a%2fb/", NULL},
    {NULL, "http://a<b/", NULL},
    {NULL, "http://<b/", NULL},
    {NULL, "http://a%FF/", NULL},
    {NULL, "http://127.1", "http://127.0.0.1/"},
    {NULL, "http://0x7F.0.0.0x1/", "http://127.0.0.1/"},
    {NULL, "http://4294967295", "http://255.255.255.255/"},
    {NULL, "http://4294967296", NULL},
    {NULL, "http://1.2.3.4.", "http://1.2.3.4/"},
    {NULL, "http://1.2.3.4.5", NULL},
    {NULL, "http://a.09", NULL},
    {NULL, "http://a.0x", NULL},
    {NULL, "http://1..2", NULL},
    {NULL, "http://0.256.0.1", NULL},
    {NULL, "http://0x.0x.0", "http://0.0.0.0/"},
    {NULL, "http://[::1]:81/", "http://[::1]:81/"},
    {NULL, "http://[1:0:0:2::3:0]", "http://[1::2:0:0:3:0]/"},
    {NULL, "http://[0:0:0:0:0:0:0:0]", "http://[::]/"},
    {NULL, "http://[::FFFF:1.2.3.4]", "http://[::ffff:102:304]/"},
    {NULL, "http://[1::2::3]", NULL},
    {NULL, "http://[::1::2]", NULL},
    {NULL, "http://[1:2:3:4:5:6:7.8.9.10]", "http://[1:2:3:4:5:6:708:90a]/"},
    {NULL, "http://[1:2:3:4:5:6:7:8.9.10.11]", NULL},
    {NULL, "http://[1:2:3:4:5:6:7]", NULL},
    {NULL, "http://[1:2:3:4:5:6:7:8:9]", NULL},
    {NULL, "http://[::1.2.3]", NULL},
    {NULL, "http://[::1.2.3.04]", NULL},
    {NULL, "http://[::12345]", NULL},
    {NULL, "http://[1:]", NULL},
    {NULL, "http://[:1]", NULL},
    {NULL, "http://[::1", NULL},
    {NULL, "http://[]", NULL},
    {NULL, "foo://A%41:80/..", "foo://A%41:80/"},
    {NULL, "foo://a b/", NULL},
    {NULL, "foo://:80/", NULL},
    {NULL, "foo://", "foo://"},
    {NULL, "foo:///a/../b", "foo:///b"},
    {NULL, "foo:/..//p", "foo:/.//p"},
    {NULL, "foo:/..//", "foo:/.//"},
    /* paths */
    {"http://h/a/b?q#f", "", "http://h/a/b?q"},
    {"http://h/a/b?q#f", "#x y", "http://h/a/b?q#x%20y"},
    {"http://h/a/b?q#f", "?x'", "http://h/a/b?x%27"},
    {"http://h/a/b?q#f", "c", "http://h/a/c"},
    {"http://h/a/b?q#f", "../../..", "http://h/"},
    {"http://h/a/b?q#f", ".%2E", "http://h/"},
    {"http://h/a/b?q#f", "./c/%2e", "http://h/a/c/"},
    {"http://h/a/b?q#f", "c^{`}\xC3\xA9%zz", "http://h/a/c%5E%7B%60%7D%C3%A9%zz"},
    {"http://h/a/b?q#f", "/x//./y", "http://h/x//y"},
    {"http://h/a/b?q#f", "//k:1/x", "http://k:1/x"},
    {"http://h/a/b?q#f", "\\\\k\\x", "http://k/x"},
    {"http://h/a/b?q#f", "http:c", "http://h/a/c"},
    {"http://h/a/b?q#f", "http:/c", "http://h/c"},
    {"http://h/a/b?q#f", "https:c", "https://c/"},
    {"http://u:p@h:1/a", "b:c", "b:c"},
    {"http://u:p@h:1/a", "./b:c", "http://u:p@h:1/b:c"},
    {"foo:/a/b", "../c", "foo:/c"},
    {"foo://h", "..", "foo://h/"},
    {"foo://h", "a", "foo://h/a"},
    {"foo:/.//p", "q", "foo:/.//q"},
    {"foo:/.//p", "..", "foo:/"},
    {"foo:/.//p", "/q", "foo:/q"},
    {"foo:/.//p", "#f", "foo:/.//p#f"},
    {"foo:o?q", "#f", "foo:o?q#f"},
    {"foo:o?q", "x", NULL},
    {"foo:o?q", "?x", NULL},
    /* files */
    {NULL, "file:a", "file:///a"},
    {NULL, "file:", "file:///"},
    {NULL, "file://localhost/C|/a", "file:///C:/a"},
    {NULL, "file://C:/a/../..", "file:///C:/"},
    {NULL, "file://h/a", "file://h/a"},
    {"file:///C:/d/e?q", "f", "file:///C:/d/f"},
    {"file:///C:/d/e?q", "/f", "file:///C:/f"},
    {"file:///C:/d/e?q", "/D:/f", "file:///D:/f"},
    {"file:///C:/d/e?q", "D|\\f", "file:///D:/f"},
    {"file:///C:/d/e?q", "../../..", "file:///C:/"},
    {"file:///C:/d/e?q", "file:#f", "file:///C:/d/e?q#f"},
    {"file://h/a", "//k/b", "file://k/b"},
    {"http://h/", "file:x", "file:///x"},
    {"http://h/", "//", NULL},
    {NULL, "http://[1:0:0:2:3:4:0:0]", "http://[1::2:3:4:0:0]/"},
    {"http://h/", "\\\\", NULL},
};

/* The parser reads nothing after the input. */
static void check_end(const char *input, const hp_url *base, bool fine, const hp_url *expected) {
  enum { PAGE = 64 << 10 };
  static char *fence; /* no byte from here on is readable */
  static const char next[] = "/\\:@?#[].%0aA-x|";
  hp_url url = {0};
  buffer text = {0};
  const size_t length = strlen(input);
  buffer_text(&text, input);
  buffer_text(&text, "..");
  for (size_t i = 0; i < sizeof next - 1; i++) {
    text.bytes[length] = text.bytes[length + 1] = next[i];
    bool same = hp_url_parse(&url, text.bytes, length, base) == fine &&
                (!fine || (url.length == expected->length && !memcmp(url.bytes, expected->bytes, url.length)));
    if (!CHECK(same)) printf("  input: %s, before %c\n", input, next[i]);
  }
  if (!fence) {
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && !mprotect(fence = pages + PAGE, PAGE, PROT_NONE));
  }
  memcpy(fence - length, input, length);
  CHECK_EQ(hp_url_parse(&url, fence - length, length, base), fine);
  buffer_free(&text);
  hp_url_close(&url);
}

static void standard_cases(void) {
  hp_url base = {0}, url = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (cases[i].base) CHECK(hp_url_parse(&base, cases[i].base, strlen(cases[i].base), NULL));
    bool fine = hp_url_parse(&url, cases[i].input, strlen(cases[i].input), cases[i].base ? &base : NULL);
    bool right = cases[i].expected
                     ? CHECK(fine) && CHECK_BYTES(url.bytes, url.length, cases[i].expected, strlen(cases[i].expected))
                     : CHECK(!fine);
    if (!right) printf("  input: %s\n", cases[i].input);
    check_end(cases[i].input, cases[i].base ? &base : NULL, fine, &url);
  }
  hp_url_close(&base);
  hp_url_close(&url);
}

/* Tabs and line breaks go, also if a URL has one kind of them only. */
static void removed_characters(void) {
  static const char *const inputs[] = {"http://h/a\tb", "http://h/a\nb", "http://h/a\rb"};
  hp_url url = {0};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    if (CHECK(hp_url_parse(&url, inputs[i], strlen(inputs[i]), NULL)))
      CHECK_BYTES(url.bytes, url.length, "http://h/ab", strlen("http://h/ab"));
  hp_url_close(&url);
}

/* NUL is encoded in each part, as the other control characters are. */
static void control_characters(void) {
  static const char input[] = "http://u\0\x1Fv@h/p\0\x1Fq?r\0\x1Fs#f\0\x1Fg";
  static const char expected[] = "http://u%00%1Fv@h/p%00%1Fq?r%00%1Fs#f%00%1Fg";
  hp_url url = {0};
  if (CHECK(hp_url_parse(&url, input, sizeof input - 1, NULL)))
    CHECK_BYTES(url.bytes, url.length, expected, sizeof expected - 1);
  hp_url_close(&url);
}

/* Host names of the URL Standard that need ICU. */
static void long_hosts(void) {
  enum { MOST = 4096 };
  hp_url url = {0};
  buffer text = {0};
  buffer_text(&text, "http://");
  for (int i = 0; i < MOST; i++) buffer_byte(&text, 'a');
  CHECK(hp_url_parse(&url, text.bytes, text.length, NULL));
  CHECK_EQ(url.length, text.length + 1);
  buffer_byte(&text, 'a');
  CHECK(!hp_url_parse(&url, text.bytes, text.length, NULL));
  buffer_free(&text);
  hp_url_close(&url);
}

static void international_hosts(void) {
  static const struct {
    const char *host, *expected; /* expected NULL: not valid */
  } rows[] = {
      {"b\xC3\xBC"
       "cher.de",
       "xn--bcher-kva.de"},
      {"B%C3%9C"
       "CHER.de",
       "xn--bcher-kva.de"},
      {"fa\xC3\x9F.de", "xn--fa-hia.de"},
      {"xn--fa-hia.de", "xn--fa-hia.de"},
      {"XN--bcher-KVA.de", "xn--bcher-kva.de"},
      {"\xEF\xBD\x81\xEF\xBC\xA2.c", "ab.c"},
      {"a\xE3\x80\x82"
       "b",
       "a.b"},
      {"\xE2\x98\x83.net", "xn--n3h.net"},
      {"-\xC3\xBC-.de", "xn-----xka.de"},
      {"\xEF\xBC\x91\xEF\xBC\x92\xEF\xBC\x97.1", "127.0.0.1"},
      {"xn--a", NULL},
      {"xn--", NULL},
      {"b.xn--a", NULL},
      {"a\xEF\xBF\xBE", NULL},
      {"\xEF\xBF\xBD", NULL},
      {"\xC2\xAD", NULL},
      {"a\xEF\xBC\x85"
       "41",
       NULL},
      {"\xC3\xBC^", NULL},
      {"a\xE2\x80\x8D"
       "b",
       NULL},
      {"\xD8\xA7"
       "1a",
       NULL},
  };
  static const char plain[] = "http://b\xC3\xBC.de/";
  hp_url url = {0};
  /* Without ICU, the characters stay. */
  const bool has_icu = hp_url_parse(&url, plain, sizeof plain - 1, NULL) && !memchr(url.bytes, '\xC3', url.length);
  if (!has_icu) printf("hosts beyond ASCII are left out: this build or this machine has no ICU\n");
  for (size_t i = 0; has_icu && i < sizeof rows / sizeof *rows; i++) {
    char input[64], expected[64];
    snprintf(input, sizeof input, "http://%s/p", rows[i].host);
    snprintf(expected, sizeof expected, "http://%s/p", rows[i].expected ? rows[i].expected : "");
    bool fine = hp_url_parse(&url, input, strlen(input), NULL);
    bool right =
        rows[i].expected ? CHECK(fine) && CHECK_BYTES(url.bytes, url.length, expected, strlen(expected)) : CHECK(!fine);
    if (!right) printf("  input: %s\n", input);
  }
  if (!has_icu && CHECK(hp_url_parse(&url, plain, sizeof plain - 1, NULL)))
    CHECK_BYTES(url.bytes, url.length, plain, sizeof plain - 1);
  hp_url_close(&url);
}

static const char *const words[] = {
    "xn--a", "file://h", "x:",   "--",       "http://", "https://", "data:", "//",  "/",   "/",  "a",     "b1",
    "-",     "x.org",    "H",    ".",        "..",      "%2e",      "%",     "?",   "#",   ":",  "=",     "'",
    " ",     "\t",       "\\",   "\xC3\xA9", "9",       "0x",       "|",     "com", "img", ",",  "&",     "@",
    "^",     "[",        "\x7F", ";",        "~",       "<p",       "\"",    "ws:", "",    "xn", "/a/b.c"};

/* Returns whether the origin is that of the URL, which is relative to the base. */
static bool is_origin_of(const hp_origin *origin, const hp_url *url, const hp_url *base) {
  const char *host = url->bytes + url->scheme_end + 2, *end = url->bytes + url->authority_end;
  if (origin->kind == HP_ORIGIN_BASE)
    return url->authority_end == base->authority_end && !memcmp(url->bytes, base->bytes, base->authority_end);
  return url->scheme == (origin->secure ? HP_SCHEME_HTTPS : HP_SCHEME_HTTP) &&
         (size_t)(end - host) >= origin->host.length && !memcmp(host, origin->host.bytes, origin->host.length) &&
         (host + origin->host.length == end || host[origin->host.length] == ':');
}

/* A serialised URL parses to itself, and the short ways give what the parser gives. They read
 * nothing after the input. */
static void random_urls(void) {
  static const char *const bases[] = {"http://h.example/a/b?q#f", "https://u@h:8/", "ws://h/x/", "file:///d/e",
                                      "foo:/x"};
  random_state seed = {20261122};
  unsigned plain_count = 0, origins = 0;
  hp_url base = {0}, url = {0}, again = {0};
  for (unsigned i = 0; i < 200000; i++) {
    char text[128] = "";
    size_t length = 0;
    for (size_t k = random_below(&seed, 9); k > 0; k--) {
      const char *word = RANDOM_OF(&seed, words);
      memcpy(text + length, word, strlen(word));
      length += strlen(word);
    }
    strcpy(text + length, i & 1 ? "/" : ":");
    const char *base_text = bases[i % 5];
    CHECK(hp_url_parse(&base, base_text, strlen(base_text), NULL));
    hp_plain_base plain;
    hp_plain_base_open(&plain, &base);
    hpar_string result;
    bool is_plain = hp_plain_resolve(&plain, &again, text, length, &result);
    bool fine = hp_url_parse(&url, text, length, &base);
    plain_count += is_plain;
    const hp_origin origin = hp_plain_origin(&plain, text, length);
    origins += origin.kind != HP_ORIGIN_UNKNOWN;
    if (origin.kind != HP_ORIGIN_UNKNOWN && !(CHECK(fine) && CHECK(is_origin_of(&origin, &url, &base))))
      printf("  origin: %s\n", text);
    if (is_plain && !(CHECK(fine) && CHECK_BYTES(result.bytes, result.length, url.bytes, url.length)))
      printf("  input: %s\n", text);
    if (fine && !(CHECK(hp_url_parse(&again, url.bytes, url.length, NULL)) &&
                  CHECK_BYTES(again.bytes, again.length, url.bytes, url.length)))
      printf("  input: %s\n", text);
  }
  CHECK(plain_count > 20000 && origins > 20000);
  hp_url_close(&base);
  hp_url_close(&url);
  hp_url_close(&again);
}

int main(void) {
  standard_cases();
  removed_characters();
  control_characters();
  long_hosts();
  international_hosts();
  random_urls();
  return check_report();
}
