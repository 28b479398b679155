// Builds hpar.node with one line of the C compiler, without node-gyp.
//
//   node build.js
//
// CC, CFLAGS: the compiler (cc) and its options (-O2)
// HPAR_FLAGS: the options for HPar, instead of those of pkg-config
// NODE_HEADERS: the folder with node_api.h, instead of that of this node
'use strict';
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');

function findHeaders() {
  const folders = [process.env.NODE_HEADERS, path.resolve(process.execPath, '../../include/node'), '/usr/include/node'];
  try {
    folders.push(require('node-api-headers').include_dir);
  } catch {
    // The package is optional.
  }
  return folders.find((folder) => folder && fs.existsSync(path.join(folder, 'node_api.h')));
}

function words(text) {
  return text.split(/\s+/).filter(Boolean);
}

const headers = findHeaders();
if (!headers) {
  console.error('node_api.h not found; install node-api-headers, or set NODE_HEADERS');
  process.exit(77);
}
const flags = process.env.HPAR_FLAGS
  || execFileSync('pkg-config', ['--cflags', '--libs', 'hpar'], { encoding: 'utf8' });
const output = process.argv[2] || path.join(__dirname, 'hpar.node');
execFileSync(process.env.CC || 'cc', [
  '-shared', '-fPIC', '-fvisibility=hidden', '-DNAPI_VERSION=8', ...words(process.env.CFLAGS || '-O2'),
  '-isystem', headers, path.join(__dirname, 'hpar_node.c'), '-o', output, ...words(flags),
], { stdio: 'inherit' });
