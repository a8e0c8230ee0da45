import { execFileSync } from 'node:child_process'
import { beforeAll, describe, expect, test } from 'vitest'
import { GLOBALS, MODULES, PROCESS } from '../../src/plugins/runtime/allowed.ts'

/**
 * What the running version of Node.js has, and plugins do not get. Something that is neither here nor in `allowed.ts` is new: read what it does,
 * and decide. Plugins do not get it until then.
 */
const REFUSED_MODULES =
  '_http_agent _http_client _http_common _http_incoming _http_outgoing _http_server _stream_duplex _stream_passthrough _stream_readable _stream_transform _stream_wrap _stream_writable _tls_common _tls_wrap child_process cluster dgram domain fs fs/promises http2 inspector inspector/promises readline readline/promises repl sea sqlite sys test test/reporters trace_events v8 vm wasi worker_threads'

const REFUSED_EXPORTS: Readonly<Record<string, string>> = {
  async_hooks: 'createHook executionAsyncResource asyncWrapProviders',
  console:
    '_stdoutErrorHandler _stderrErrorHandler _times profile profileEnd timeStamp context createTask _stdout _stderr',
  crypto: 'setEngine setFips secureHeapUsed',
  http: 'setGlobalProxyFromEnv',
  net: '_createServerHandle BoundSocket',
  os: 'getPriority networkInterfaces setPriority userInfo',
  tls: 'getCACertificates',
  tty: 'ReadStream WriteStream',
  util: 'setTraceSigInt',
}

const REFUSED_MEMBERS =
  '_rawDebug moduleLoadList binding _linkedBinding dlopen _getActiveRequests _getActiveHandles getActiveResourcesInfo _kill loadEnvFile kill execve ref unref finalization openStdin getuid geteuid getgid getegid getgroups allowedNodeEnvironmentFlags setUncaughtExceptionCaptureCallback hasUncaughtExceptionCaptureCallback sourceMapsEnabled setSourceMapsEnabled _debugProcess _debugEnd _startProfilerIdleNotifier _stopProfilerIdleNotifier stdin abort umask chdir initgroups setgroups setegid seteuid setgid setuid debugPort _preload_modules report _eval noProcessWarnings'

interface Inventory {
  readonly modules: Readonly<Record<string, string[]>>
  readonly members: string[]
  readonly globals: string[]
}

/** Lists what a process has that nothing has changed. */
const INVENTORY = `
const names = (holder) => Object.getOwnPropertyNames(holder).filter((key) => {
  try { return holder[key] !== null && /^(object|function)$/.test(typeof holder[key]) } catch { return true }
})
const modules = {}
for (const full of require('node:module').builtinModules) {
  const name = full.replace(/^node:/, '')
  const found = process.getBuiltinModule('node:' + name)
  modules[name] = names(found).filter((key) => typeof found !== 'function' || key !== 'prototype')
}
const globals = Object.getOwnPropertyNames(globalThis)
console.log(JSON.stringify({ modules, members: Object.getOwnPropertyNames(process), globals }))`

let inventory: Inventory

beforeAll(() => {
  // The members that only some processes have: started with the flags of a plugin, by a pipe.
  const text = execFileSync(process.execPath, ['--no-warnings', '--permission', '--eval', INVENTORY], {
    env: {},
    encoding: 'utf8',
  })
  inventory = JSON.parse(text)
})

const words = (text = '') => text.split(' ').filter((word) => word !== '')

describe('of the running version of Node.js, it is decided about', () => {
  test('every module', () => {
    const decided = [...Object.keys(MODULES), ...words(REFUSED_MODULES)]
    expect(Object.keys(inventory.modules).filter((name) => !decided.includes(name))).toEqual([])
    expect(words(REFUSED_MODULES).filter((name) => Object.hasOwn(MODULES, name))).toEqual([])
  })

  test('every function and object of the modules that plugins can use', () => {
    for (const [name, allowed] of Object.entries(MODULES)) {
      // Its facade is made by hand, and the list of members below is that of `process`.
      if (name === 'module' || name === 'process') continue
      const decided = [...words(allowed), ...words(REFUSED_EXPORTS[name])]
      expect({ [name]: inventory.modules[name]?.filter((key) => !decided.includes(key)) }).toEqual({
        [name]: [],
      })
    }
  })

  test('every member of process', () => {
    const decided = [...words(PROCESS), ...words(REFUSED_MEMBERS)]
    expect(inventory.members.filter((name) => !decided.includes(name))).toEqual([])
  })

  test('every global', () => {
    // What --eval alone has: the modules by their names, and the names of a module of CommonJS.
    const ofEval = [
      '__filename',
      '__dirname',
      'module',
      'exports',
      'require',
      ...Object.keys(inventory.modules),
    ]
    const decided = [...words(GLOBALS), ...ofEval]
    const globals = inventory.globals.map((name) => name.replace(/^node:/, ''))
    expect(globals.filter((name) => !decided.includes(name))).toEqual([])
  })
})
