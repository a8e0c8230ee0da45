/**
 * The reason of a refusal: Node's own code for what is denied, a member that is not there, or another one.
 */
type Reason = 'denied' | 'no function' | 'nothing' | 'refused'

/** [what it does, the way of the attacking plugin, its parameters, the reason of the refusal if it is not `denied`] */
export type Escape = [what: string, way: string, params: object, reason?: Reason]

const LOADERS = [
  'get-builtin',
  'get-builtin-global',
  'require',
  'require-again',
  'import',
  'import-function',
  'import-eval',
  'main-module',
  'constructor-process',
  'emitter-process',
]

/** [module, member, parameters] */
const refusedUses = (canary: string): readonly (readonly [string, string, ...unknown[]])[] => [
  ['node:fs', 'writeFileSync', canary, 'x'],
  ['fs', 'readFileSync', '/etc/passwd'],
  ['node:fs/promises', 'writeFile', canary, 'x'],
  ['node:sqlite', 'DatabaseSync', canary],
  ['node:worker_threads', 'Worker', canary],
  ['node:child_process', 'execSync', `touch ${canary}`],
  ['node:inspector', 'open', 0],
  ['node:vm', 'runInThisContext', '1'],
  ['node:v8', 'writeHeapSnapshot', canary],
  ['node:wasi', 'WASI', { version: 'preview1', preopens: { '/': '/' } }],
  ['node:cluster', 'fork'],
  ['node:repl', 'start'],
  ['node:module', 'register', 'data:text/javascript,'],
  ['node:async_hooks', 'createHook', {}],
  ['node:net', '_createServerHandle', canary, -1, -1],
  ['node:os', 'setPriority', 19],
  ['./wall.mjs', 'x'],
  ['/etc/passwd', 'x'],
  ['data:text/javascript,export default 1', 'x'],
]

const REFUSED_MEMBERS: readonly (readonly [string, ...unknown[]])[] = [
  ['binding', 'fs'],
  ['_linkedBinding', 'fs'],
  ['chdir', '/'],
  ['setuid', 0],
  ['setgid', 0],
  ['umask', 0],
  ['execve', '/bin/true', ['true'], {}],
  ['loadEnvFile', '/etc/passwd'],
  ['_getActiveHandles'],
  ['_getActiveRequests'],
  ['openStdin'],
  ['setSourceMapsEnabled', true],
  ['_rawDebug', 'x'],
]

/** Every way out of the process of a plugin, which must end in a refusal. Nothing may make the file `canary`. */
export function escapesOf(canary: string): Escape[] {
  return [
    ['reads a file', 'file', { path: '/etc/passwd' }],
    ['reads the environment of the service', 'file', { path: `/proc/${process.pid}/environ` }],
    ['reads its own memory map', 'file', { path: '/proc/self/maps' }],
    ['lists a folder', 'folder', { path: '/' }],
    ['writes a file', 'write', { path: canary }],
    ['asks which paths exist', 'exists', { path: '/etc' }],
    ['signals the service', 'signal-parent', {}, 'no function'],
    ['signals the service with an imported function', 'signal-import', {}, 'no function'],
    ['signals the service with a required function', 'signal-require', {}, 'no function'],
    ['signals the service with a hidden function', 'signal-hidden', {}, 'no function'],
    ['opens the debugger of the service', 'debug-parent', {}, 'no function'],
    ['slows the service down', 'priority', {}],
    ['starts a program', 'program', {}],
    ['starts a thread', 'worker', {}],
    ['uses the inside of Node.js', 'binding', {}, 'no function'],
    ['loads machine code', 'addon', {}, 'no function'],
    ['loads a library as an engine', 'engine', {}],
    ['loads a library as an engine of TLS', 'engine-tls', {}, 'refused'],
    ['loads a library by the class below', 'engine-native', {}],
    ['opens a descriptor', 'descriptor', {}],
    ['opens a descriptor by the class below', 'socket-native-open', {}],
    ['finds functions of Node.js on the stack', 'frames', {}, 'nothing'],
    ...['connect', 'options', 'tls', 'http', 'agent', 'fetch', 'listen', 'http-listen'].map(
      (way): Escape => [`opens a Unix socket (${way})`, `socket-${way}`, { path: canary }],
    ),
    ['opens a Unix socket by the class below', 'socket-native-connect', { path: canary }],
    ['makes a Unix socket by the class below', 'socket-native-bind', { path: canary }],
    ...LOADERS.flatMap((by) =>
      refusedUses(canary).map(
        ([name, member, ...values]): Escape => [
          `uses ${name}.${member} (${by})`,
          'load',
          { by, name, member, values },
          'refused',
        ],
      ),
    ),
    ...LOADERS.map(
      (by): Escape => [
        `replaces functions of the language, and uses v8.getHeapStatistics (${by})`,
        'patched',
        { by, name: 'node:v8', member: 'getHeapStatistics', values: [] },
        'refused',
      ],
    ),
    ...REFUSED_MEMBERS.map(
      ([name, ...values]): Escape => [`calls process.${name}`, 'member', { name, values }, 'no function'],
    ),
  ]
}
