// jsoup. Pages are strings before the clock runs. It has neither namespaces nor template contents, so its trees are
// not compared. What it answers to is in README.md.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;

final class JsoupPeer {
  static Document[] kept;
  static int sink;

  static long peak() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status")))
      if (line.startsWith("VmHWM:")) return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
    return 0;
  }

  static String round(String[] pages) {
    StringBuilder times = new StringBuilder();
    for (String page : pages) {
      long begin = System.nanoTime();
      sink += Jsoup.parse(page).childNodeSize();
      times.append(times.length() > 0 ? " " : "").append(System.nanoTime() - begin);
    }
    return times.toString();
  }

  static long keepAll(String[] pages) throws IOException {
    long before = peak();
    kept = new Document[pages.length];
    for (int i = 0; i < pages.length; i++) kept[i] = Jsoup.parse(pages[i]);
    return peak() - before;
  }

  public static void main(String[] arguments) throws IOException {
    String[] pages = Files.readAllLines(Path.of(arguments[0])).stream().map(path -> {
      try {
        return new String(Files.readAllBytes(Path.of(path)), StandardCharsets.UTF_8);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }).toArray(String[]::new);
    System.out.println("jsoup " + System.getProperty("jsoup.version") + ", Java " + Runtime.version());
    BufferedReader words = new BufferedReader(new InputStreamReader(System.in));
    for (String word; (word = words.readLine()) != null;) {
      switch (word) {
        case "fresh": System.out.println(round(pages)); break;
        case "memory": System.out.println(keepAll(pages)); break;
        default: System.out.println("none");
      }
    }
  }
}
