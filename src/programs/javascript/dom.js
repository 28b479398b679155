/* The document and the window as scripts see them, in ECMAScript 5. The engine calls this function
 * with its native functions, which take and return handles, and with the global object. It calls
 * the result once, when a page has its document node. */
(function ($, global) {
  'use strict';
  var nodes = {}, styles = {}, root = 0;

  /*** wrappers ***/

  function Node() {}
  function HTMLDocument() {}
  var P = Node.prototype, doc = HTMLDocument.prototype = Object.create(P), document = Object.create(doc);

  /* Returns the wrapper of a node; it stays the same, so that scripts can add properties. */
  function wrap(h) {
    if (!h) return null;
    var n = nodes[h];
    if (!n) {
      n = nodes[h] = Object.create(P);
      Object.defineProperty(n, '$', {value: h});
    }
    return n;
  }
  function handle(n) {
    if (!n || !n.$) throw new TypeError('not a node');
    return n.$;
  }
  function getter(of, name, get, set) {
    Object.defineProperty(of, name, {get: get, set: set, configurable: true, enumerable: true});
  }
  /* A property of elements. Scripts may give other nodes one of this name. */
  function elementProperty(name, get, set) {
    getter(P, name, function () { return $.kind(this.$) === 1 ? get.call(this) : undefined; }, function (v) {
      if ($.kind(this.$) !== 1)
        Object.defineProperty(this, name, {value: v, writable: true, configurable: true, enumerable: true});
      else if (set)
        set.call(this, v);
    });
  }
  function method(of, name, value) {
    Object.defineProperty(of, name, {value: value, writable: true, configurable: true});
  }
  function nothing() {}
  function link(name, native) { getter(P, name, function () { return wrap(native(this.$)); }); }
  function list(found) {
    var all = found.map(wrap);
    method(all, 'item', function (i) { return this[i] || null; });
    method(all, 'namedItem', function (name) {
      for (var i = 0; i < this.length; i++) if (this[i].id === name || this[i].name === name) return this[i];
      return null;
    });
    return all;
  }
  function children(h, elements) {
    var found = [];
    for (var c = $.first(h); c; c = $.next(c)) if (!elements || $.kind(c) === 1) found.push(c);
    return found;
  }
  function element(h, step) {
    while (h && $.kind(h) !== 1) h = step(h);
    return wrap(h);
  }
  function isData(h) { var k = $.kind(h); return k === 3 || k === 8 || k === 7; }
  function text(v) { return v === null ? '' : String(v); }
  function lower(v) { return String(v).replace(/[A-Z]/g, function (c) { return c.toLowerCase(); }); }

  /*** nodes ***/

  link('parentNode', $.parent);
  link('firstChild', $.first);
  link('lastChild', $.last);
  link('nextSibling', $.next);
  link('previousSibling', $.previous);
  link('content', $.contents);
  getter(P, 'firstElementChild', function () { return element($.first(this.$), $.next); });
  getter(P, 'lastElementChild', function () { return element($.last(this.$), $.previous); });
  getter(P, 'nextElementSibling', function () { return element($.next(this.$), $.next); });
  getter(P, 'previousElementSibling', function () { return element($.previous(this.$), $.previous); });
  getter(P, 'childElementCount', function () { return children(this.$, true).length; });
  getter(P, 'parentElement', function () { var p = this.parentNode; return p && p.nodeType === 1 ? p : null; });
  getter(P, 'childNodes', function () { return list(children(this.$)); });
  getter(P, 'children', function () { return list(children(this.$, true)); });
  getter(P, 'nodeType', function () { return $.kind(this.$); });
  elementProperty('localName', function () { return $.name(this.$); });
  elementProperty('tagName', function () {
    var name = $.name(this.$);
    return $.ns(this.$) === 1 ? name.toUpperCase() : name;
  });
  getter(P, 'nodeName', function () {
    var names = {3: '#text', 8: '#comment', 9: '#document', 11: '#document-fragment'};
    return names[$.kind(this.$)] || this.tagName || $.name(this.$);
  });
  getter(P, 'ownerDocument', function () { return this.$ === root ? null : document; });
  getter(P, 'isConnected', function () { return document.contains(this); });
  function getData() { return isData(this.$) ? $.data(this.$) : undefined; }
  function setData(v) { if (isData(this.$)) $.setData(this.$, text(v)); }
  getter(P, 'data', getData, setData);
  getter(P, 'nodeValue', function () { return isData(this.$) ? $.data(this.$) : null; }, setData);
  getter(P, 'length', function () { return isData(this.$) ? $.data(this.$).length : undefined; });
  getter(P, 'textContent', function () {
    return isData(this.$) ? $.data(this.$) : $.kind(this.$) === 9 ? null : $.text(this.$);
  }, function (v) {
    v = v === undefined ? '' : text(v);
    if (isData(this.$)) return $.setData(this.$, v);
    if ($.kind(this.$) === 9) return;
    while ($.first(this.$)) $.remove($.first(this.$));
    if (v) $.insert(this.$, $.createText(v), 0);
  });
  ['text', 'innerText'].forEach(function (name) {
    elementProperty(name, function () { return this.textContent; }, function (v) { this.textContent = v; });
  });
  elementProperty('innerHTML', function () { return $.html(this.$); }, function (v) { $.setHtml(this.$, text(v)); });
  elementProperty('outerHTML', function () {
    var box = $.createElement('div');
    $.insert(box, $.clone(this.$, true), 0);
    return $.html(box);
  });
  function fragment(html) {
    var template = $.createElement('template');
    if (html) $.setHtml(template, html);
    return $.contents(template);
  }
  method(P, 'insertAdjacentHTML', function (where, html) { this.insertAdjacentElement(where, wrap(fragment(text(html)))); });
  method(P, 'insertAdjacentElement', function (where, n) {
    var h = this.$, parent = $.parent(h);
    switch (lower(where)) {
      case 'beforebegin': if (parent) $.insert(parent, handle(n), h); break;
      case 'afterbegin': $.insert(h, handle(n), $.first(h)); break;
      case 'beforeend': $.insert(h, handle(n), 0); break;
      case 'afterend': if (parent) $.insert(parent, handle(n), $.next(h)); break;
      default: throw new SyntaxError('SyntaxError: not a position');
    }
    return n;
  });
  method(P, 'appendChild', function (n) { $.insert(this.$, handle(n), 0); return n; });
  method(P, 'insertBefore', function (n, b) { $.insert(this.$, handle(n), b ? handle(b) : 0); return n; });
  method(P, 'removeChild', function (n) {
    if ($.parent(handle(n)) !== this.$) throw new Error('NotFoundError');
    $.remove(n.$);
    return n;
  });
  method(P, 'replaceChild', function (n, old) {
    if ($.parent(handle(old)) !== this.$) throw new Error('NotFoundError');
    $.insert(this.$, handle(n), old.$);
    if (n !== old) $.remove(old.$);
    return old;
  });
  method(P, 'remove', function () { $.remove(this.$); });
  method(P, 'cloneNode', function (deep) { return wrap($.clone(this.$, !!deep)); });
  method(P, 'hasChildNodes', function () { return !!$.first(this.$); });
  method(P, 'contains', function (n) {
    for (; n; n = n.parentNode) if (n === this) return true;
    return false;
  });

  /*** attributes ***/

  method(P, 'setAttribute', function (name, value) { $.setAttribute(this.$, lower(name), String(value)); });
  method(P, 'getAttribute', function (name) { return $.attribute(this.$, lower(name)); });
  method(P, 'hasAttribute', function (name) { return $.attribute(this.$, lower(name)) !== null; });
  method(P, 'removeAttribute', function (name) { if (String(name)) $.removeAttribute(this.$, lower(name)); });
  elementProperty('attributes', function () {
    var h = this.$;
    return $.attributeNames(h).map(function (name) { return {name: name, value: $.attribute(h, name)}; });
  });
  [['id', 'id'], ['className', 'class'], ['src', 'src'], ['href', 'href'], ['name', 'name'], ['type', 'type'],
   ['rel', 'rel'], ['title', 'title'], ['value', 'value'], ['lang', 'lang'], ['dir', 'dir'], ['alt', 'alt'],
   ['media', 'media'], ['charset', 'charset'], ['htmlFor', 'for'], ['action', 'action'], ['target', 'target'],
   ['width', 'width'], ['height', 'height'], ['httpEquiv', 'http-equiv'], ['placeholder', 'placeholder'],
   ['crossOrigin', 'crossorigin'], ['language', 'language']].forEach(function (pair) {
    elementProperty(pair[0], function () { return $.attribute(this.$, pair[1]) || ''; },
           function (v) { $.setAttribute(this.$, pair[1], String(v)); });
  });
  ['async', 'defer', 'disabled', 'checked', 'selected', 'hidden'].forEach(function (name) {
    elementProperty(name, function () { return $.attribute(this.$, name) !== null; }, function (v) {
      if (v) $.setAttribute(this.$, name, ''); else $.removeAttribute(this.$, name);
    });
  });
  function tokens(h) { return ($.attribute(h, 'class') || '').split(/[ \t\n\f\r]+/).filter(Boolean); }
  elementProperty('classList', function () {
    var h = this.$, has = function (name) { return tokens(h).indexOf(String(name)) >= 0; };
    var set = function (all) { $.setAttribute(h, 'class', all.join(' ')); };
    var add = function () {
      var all = tokens(h);
      for (var i = 0; i < arguments.length; i++) if (all.indexOf(arguments[i]) < 0) all.push(String(arguments[i]));
      set(all);
    };
    var remove = function () {
      var gone = Array.prototype.slice.call(arguments).map(String);
      set(tokens(h).filter(function (name) { return gone.indexOf(name) < 0; }));
    };
    return {
      length: tokens(h).length, contains: has, add: add, remove: remove,
      item: function (i) { return tokens(h)[i] || null; },
      toggle: function (name, force) {
        var on = force === undefined ? !has(name) : !!force;
        (on ? add : remove)(name);
        return on;
      }
    };
  });
  /* Each property of `style` is a declaration in the attribute. */
  function declarations(h) {
    var all = {};
    ($.attribute(h, 'style') || '').split(';').forEach(function (part) {
      var colon = part.indexOf(':');
      if (colon > 0) all[lower(part.slice(0, colon).trim())] = part.slice(colon + 1).trim();
    });
    return all;
  }
  function setDeclaration(h, name, value) {
    var all = declarations(h);
    if (value === '' || value === null) delete all[name]; else all[name] = String(value);
    $.setAttribute(h, 'style', Object.keys(all).map(function (key) { return key + ': ' + all[key] + ';'; }).join(' '));
  }
  function property(name) {
    return name === 'cssFloat' ? 'float' : name.replace(/[A-Z]/g, function (c) { return '-' + c.toLowerCase(); });
  }
  function styleOf(h) {
    return new Proxy({}, {
      get: function (of, name) {
        switch (name) {
          case 'cssText': return $.attribute(h, 'style') || '';
          case 'setProperty': return function (key, value) { setDeclaration(h, lower(key), value); };
          case 'removeProperty': return function (key) { setDeclaration(h, lower(key), ''); };
          case 'getPropertyValue': return function (key) { return declarations(h)[lower(key)] || ''; };
          default: return typeof name === 'string' ? declarations(h)[property(name)] || '' : undefined;
        }
      },
      set: function (of, name, value) {
        if (name === 'cssText') $.setAttribute(h, 'style', String(value)); else setDeclaration(h, property(name), value);
        return true;
      }
    });
  }
  elementProperty('style', function () { return styles[this.$] || (styles[this.$] = styleOf(this.$)); },
         function (v) { $.setAttribute(this.$, 'style', String(v)); });

  /*** searches and events ***/

  method(P, 'getElementsByTagName', function (name) { return list($.byTag(this.$, lower(name))); });
  method(P, 'getElementsByClassName', function (name) { return list($.byClass(this.$, String(name).trim())); });
  method(P, 'querySelector', function (s) { return wrap($.select(this.$, String(s), false)[0]); });
  method(P, 'querySelectorAll', function (s) { return list($.select(this.$, String(s), true)); });
  method(P, 'matches', function (s) { return $.matches(this.$, String(s)); });
  method(P, 'closest', function (s) {
    for (var n = this; n && n.nodeType === 1; n = n.parentNode) if ($.matches(n.$, String(s))) return n;
    return null;
  });
  ['addEventListener', 'removeEventListener', 'attachEvent', 'detachEvent', 'focus', 'blur', 'click', 'submit',
   'scrollIntoView'].forEach(function (name) { method(P, name, nothing); });
  method(P, 'dispatchEvent', function () { return true; });
  method(P, 'getBoundingClientRect', function () {
    return {left: 0, top: 0, right: 0, bottom: 0, width: 0, height: 0};
  });
  ['offsetWidth', 'offsetHeight', 'offsetLeft', 'offsetTop', 'clientWidth', 'clientHeight', 'scrollTop',
   'scrollLeft'].forEach(function (name) { getter(P, name, function () { return 0; }, nothing); });
  [['ELEMENT_NODE', 1], ['TEXT_NODE', 3], ['COMMENT_NODE', 8], ['DOCUMENT_NODE', 9],
   ['DOCUMENT_FRAGMENT_NODE', 11]].forEach(function (pair) { Node[pair[0]] = P[pair[0]] = pair[1]; });

  /*** the document ***/

  function joined(of) {
    var all = '';
    for (var i = 0; i < of.length; i++) all += of[i];
    return all;
  }
  method(doc, 'write', function () { $.write(joined(arguments)); });
  method(doc, 'writeln', function () { $.write(joined(arguments) + '\n'); });
  method(doc, 'open', function () { return this; });
  method(doc, 'close', nothing);
  method(doc, 'createElement', function (name) { return wrap($.createElement(lower(name))); });
  method(doc, 'createTextNode', function (data) { return wrap($.createText(String(data))); });
  method(doc, 'createComment', function (data) { return wrap($.createComment(String(data))); });
  method(doc, 'createDocumentFragment', function () { return wrap(fragment('')); });
  method(doc, 'createEvent', function () { return {initEvent: nothing, initCustomEvent: nothing}; });
  method(doc, 'getElementById', function (id) { return wrap($.byId(root, String(id))); });
  method(doc, 'getElementsByName', function (name) { return list($.byName(root, String(name))); });
  method(doc, 'hasFocus', function () { return false; });
  function childOf(h, test) {
    for (var c = $.first(h); c; c = $.next(c)) if ($.kind(c) === 1 && test($.name(c))) return c;
    return 0;
  }
  function rootElement() { return childOf(root, function () { return true; }); }
  function part(test) {
    return function () {
      var html = rootElement();
      return html && $.name(html) === 'html' ? wrap(childOf(html, test)) : null;
    };
  }
  getter(doc, 'documentElement', function () { return wrap(rootElement()); });
  getter(doc, 'head', part(function (name) { return name === 'head'; }));
  getter(doc, 'body', part(function (name) { return name === 'body' || name === 'frameset'; }));
  getter(doc, 'currentScript', function () { return wrap($.script()); });
  getter(doc, 'defaultView', function () { return global; });
  getter(doc, 'readyState', function () { return 'loading'; });
  getter(doc, 'title', function () {
    var title = wrap($.byTag(root, 'title')[0]);
    return title ? title.textContent.trim() : '';
  }, function (v) {
    var title = wrap($.byTag(root, 'title')[0]);
    if (!title && document.head) title = document.head.appendChild(document.createElement('title'));
    if (title) title.textContent = v;
  });
  [['scripts', 'script'], ['images', 'img'], ['forms', 'form'], ['links', 'a'], ['anchors', 'a']].forEach(function (pair) {
    getter(doc, pair[0], function () { return list($.byTag(root, pair[1])); });
  });
  var values = {
    cookie: '', referrer: '', domain: 'localhost', URL: 'http://localhost/', compatMode: 'CSS1Compat',
    characterSet: 'UTF-8', charset: 'UTF-8', hidden: false, visibilityState: 'visible'
  };
  Object.keys(values).forEach(function (name) { method(doc, name, values[name]); });

  /*** the window ***/

  var location = {
    href: doc.URL, protocol: 'http:', host: 'localhost', hostname: 'localhost', port: '', pathname: '/', search: '',
    hash: '', origin: 'http://localhost', replace: nothing, assign: nothing, reload: nothing,
    toString: function () { return this.href; }
  };
  function storage() {
    var all = {};
    return {
      getItem: function (key) { return Object.prototype.hasOwnProperty.call(all, key) ? all[key] : null; },
      setItem: function (key, value) { all[key] = String(value); },
      removeItem: function (key) { delete all[key]; }
    };
  }
  delete global.Duktape;
  function put(values) { Object.keys(values).forEach(function (name) { global[name] = values[name]; }); }
  method(doc, 'location', location);
  global.window = global.self = global.top = global.parent = global.frames = global;
  put({
    document: document, Node: Node, HTMLDocument: HTMLDocument, HTMLElement: Node, Element: Node, location: location,
    navigator: {
      userAgent: 'HPar', appName: 'HPar', appVersion: '0', platform: 'Linux', language: 'en', languages: ['en'],
      vendor: '', product: '', cookieEnabled: false, onLine: false, plugins: [], mimeTypes: [],
      javaEnabled: function () { return false; }
    },
    screen: {width: 1024, height: 768, availWidth: 1024, availHeight: 768, colorDepth: 24, pixelDepth: 24},
    history: {length: 1, pushState: nothing, replaceState: nothing, back: nothing, forward: nothing, go: nothing},
    console: {log: nothing, info: nothing, warn: nothing, error: nothing, debug: nothing, time: nothing, timeEnd: nothing},
    localStorage: storage(), sessionStorage: storage(), innerWidth: 1024, innerHeight: 768, outerWidth: 1024,
    outerHeight: 768, devicePixelRatio: 1, pageXOffset: 0, pageYOffset: 0, scrollX: 0, scrollY: 0, name: '',
    alert: nothing, scroll: nothing, scrollTo: nothing, scrollBy: nothing, focus: nothing, blur: nothing,
    confirm: function () { return false; }, prompt: function () { return null; },
    open: function () { return null; }, postMessage: nothing,
    setTimeout: function () { return 1; }, setInterval: function () { return 1; },
    setImmediate: function () { return 1; }, requestAnimationFrame: function () { return 1; },
    clearTimeout: nothing, clearInterval: nothing, cancelAnimationFrame: nothing,
    addEventListener: nothing, removeEventListener: nothing, attachEvent: nothing, detachEvent: nothing,
    dispatchEvent: function () { return true; },
    getComputedStyle: function (n) { return n.style; },
    matchMedia: function (media) {
      return {matches: false, media: media, addListener: nothing, removeListener: nothing};
    },
    Image: function (width, height) {
      var image = document.createElement('img');
      if (width !== undefined) image.width = width;
      if (height !== undefined) image.height = height;
      return image;
    }
  });

  /*** the same clock and random numbers in each run ***/

  var RealDate = Date, time = 1767225600000, seed = 1;
  /* Each look at the clock is one millisecond later, so that scripts can wait. */
  function now() { return time++; }
  function ScriptDate(year, month, day, hours, minutes, seconds, ms) {
    if (!(this instanceof ScriptDate)) return new RealDate(now()).toString();
    switch (arguments.length) {
      case 0: return new RealDate(now());
      case 1: return new RealDate(year);
      default: return new RealDate(year, month, day === undefined ? 1 : day, hours || 0, minutes || 0, seconds || 0, ms || 0);
    }
  }
  ScriptDate.prototype = RealDate.prototype;
  ScriptDate.prototype.constructor = ScriptDate;
  ScriptDate.now = now;
  ScriptDate.UTC = RealDate.UTC;
  ScriptDate.parse = RealDate.parse;
  global.Date = ScriptDate;
  global.performance = {now: function () { return now() - 1767225600000; }, timing: {navigationStart: 1767225600000}};
  Math.random = function () {
    seed = (seed * 16807) % 2147483647;
    return (seed - 1) / 2147483646;
  };

  return function () {
    root = $.root();
    nodes[root] = document;
    Object.defineProperty(document, '$', {value: root});
  };
})
