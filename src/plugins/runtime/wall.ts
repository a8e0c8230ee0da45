import { builtinModules, registerHooks } from 'node:module'
import { _createServerHandle as createServerHandle, Socket } from 'node:net'
import { Writable } from 'node:stream'
import { createSecureContext } from 'node:tls'
import { GLOBALS, IMPORTS_KEY, MODULES, PIPE_KEY, PROCESS } from './allowed.ts'

/**
 * The wall of a plugin's process, which Node.js runs before anything else (`--import`). What it does not name
 * in `allowed.ts` is gone when the code of the plugin begins. It has a module of its own, so no `eval` in the
 * bundle sees its variables. Node's permission model stands behind it.
 *
 * All is decided before the plugin begins. What runs later only looks up what is there, and calls no function
 * that a plugin could replace: a different `Set.prototype.has` would be asked, and a different `Object.keys`
 * would be handed a module of Node.js.
 */

declare module 'node:net' {
  /** Makes a socket that is bound to an address, of the class that Node.js uses for TCP. */
  export function _createServerHandle(address: string, port: number, family: number): { close(): void }
}

type Exports = Readonly<Record<PropertyKey, unknown>>

/** The pipe to the service is the fourth file of the process. */
const PIPE = 3

/** The levels of an export that is refused in which data is copied. */
const DEPTH = 2

/** The url of a module of Node.js as a plugin sees it. */
const SCHEME = 'plugin-wall:'

const { getBuiltinModule } = process
const { getOwnPropertyDescriptor, ownKeys, deleteProperty, defineProperty } = Reflect

/**
 * The modules as plugins see them, by name with and without the prefix, and the code that imports them, by
 * url. Nothing is inherited.
 */
const modules: Record<string, unknown> = Object.create(null)
const sources: Record<string, string> = Object.create(null)

const pipe = new Socket({ fd: PIPE, readable: true, writable: true })
removeNativeDoors(pipe)
stripProcess()
showModules()
strip(globalThis, new Set(GLOBALS.split(' ')), (key) => key === Symbol.toStringTag)
defineProperty(globalThis, PIPE_KEY, { value: pipe, configurable: true })
guardLoading()

/**
 * Takes from the classes of Node.js what opens a Unix socket, a descriptor or a library. JavaScript can reach
 * these classes from any socket, so hiding the functions that call them would not do.
 */
function removeNativeDoors(own: Socket): void {
  const handle = createServerHandle('127.0.0.1', 0, 4)
  handle.close()
  const { context } = createSecureContext()
  const doors: readonly [object, readonly string[]][] = [
    [
      (own as unknown as { readonly _handle: object })._handle,
      ['bind', 'listen', 'connect', 'open', 'fchmod'],
    ],
    [handle, ['open']],
    [context as object, ['setEngineKey', 'setClientCertEngine']],
  ]
  for (const [instance, names] of doors)
    for (const name of names) {
      const prototype = Object.getPrototypeOf(instance)
      defineProperty(prototype, name, { value: refusing(`Unix sockets and descriptors (${name})`) })
    }
}

/**
 * Gives the function that stands in the place of a refused one. Classes can extend it, so that packages load.
 */
function refusing(what: string): () => never {
  // An arrow function cannot be extended.
  return function refuse(): never {
    throw denied(`Plugins cannot use ${what}.`)
  }
}

function denied(message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_ACCESS_DENIED' })
}

/**
 * Refuses as functions of these modules do: by a promise, by a callback, or by an error. Packages expect that
 * a file cannot be read.
 */
function refusingLater(what: string): (...values: unknown[]) => unknown {
  return function refuse(...values: unknown[]): unknown {
    const error = denied(`Plugins cannot use ${what}.`)
    if (/promises/.test(what)) return Promise.reject(error)
    const last = values.at(-1)
    if (typeof last !== 'function') throw error
    queueMicrotask(() => last(error))
    return undefined
  }
}

/** Shows every module on the list, and of the others those that the bundle imports. */
function showModules(): void {
  const imported = (Reflect.get(globalThis, IMPORTS_KEY) ?? []) as readonly string[]
  const known = builtinModules.map((name) => name.replace(/^node:/, ''))
  const names = new Set([...Object.keys(MODULES), ...imported.map((name) => name.replace(/^node:/, ''))])
  for (const name of known.filter((one) => names.has(one) && one !== 'module')) {
    const shown = show(name)
    modules[name] = shown
    modules[`node:${name}`] = shown
  }
  const full = moduleOfModules()
  for (const name of ['module', 'node:module']) modules[name] = full
  for (const [name, shown] of Object.entries(modules))
    sources[SCHEME + name] = sourceOf(name, shown as Exports)
}

function show(name: string): unknown {
  const real = load(name)
  const isAllowed = Object.hasOwn(MODULES, name)
  const allowed = new Set(MODULES[name]?.split(' '))
  if (name === 'process') return process
  // A function cannot be copied, and a module like `dns/promises` is inside another one as well.
  if (isAllowed && (typeof real === 'function' || name.includes('/'))) {
    strip(real, new Set([...allowed, 'length', 'name', 'prototype']), (key) => isData(real, key))
    return real
  }
  const shown: Record<string, unknown> = {}
  for (const key of Object.getOwnPropertyNames(real)) {
    const property = getOwnPropertyDescriptor(real, key)
    if (!allowed.has(key)) shown[key] = harmless(`node:${name} (${key})`, read(real, key))
    else if (property !== undefined && 'value' in property) shown[key] = property.value
    else
      defineProperty(shown, key, {
        get: () => real[key],
        set: (value) => {
          ;(real as Record<string, unknown>)[key] = value
        },
        enumerable: true,
        configurable: true,
      })
  }
  if (name === 'fs') addStandardOutput(shown)
  return shown
}

/** Loggers write to the standard output by its descriptor, which leads nowhere. */
function addStandardOutput(shown: Record<string, unknown>): void {
  const lengthOf = (piece: unknown) =>
    typeof piece === 'string' ? piece.length : Number((piece as Uint8Array).byteLength)
  const { write, writeSync } = shown as Record<string, (...values: unknown[]) => unknown>
  shown.writeSync = (fd: unknown, piece: unknown) => (fd === 1 || fd === 2 ? lengthOf(piece) : writeSync?.())
  shown.write = (fd: unknown, piece: unknown, ...others: unknown[]) => {
    const done = others[others.length - 1]
    if ((fd !== 1 && fd !== 2) || typeof done !== 'function') return write?.(done)
    setImmediate(() => done(null, lengthOf(piece), piece))
    return undefined
  }
}

function sourceOf(name: string, shown: Exports): string {
  const keys = Object.keys(shown).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key) && key !== 'default')
  const exports = keys.map((key, at) => `const v${at} = it.${key}\nexport { v${at} as ${key} }`)
  const it = `const it = process.getBuiltinModule(${JSON.stringify(name)})`
  return [it, 'export default it', ...exports].join('\n')
}

function load(name: string): Exports {
  try {
    return (getBuiltinModule(`node:${name}` as 'node:net') ?? {}) as unknown as Exports
  } catch {
    return {}
  }
}

function read(real: Exports, key: PropertyKey): unknown {
  try {
    return real[key]
  } catch {
    return undefined
  }
}

/** Returns a refused export in a form that does nothing: functions that refuse, and copies of data. */
function harmless(what: string, value: unknown, depth = 0): unknown {
  if (typeof value === 'function')
    return /^node:(fs|child_process)\b/.test(what) ? refusingLater(what) : refusing(what)
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEPTH) return undefined
  if (Array.isArray(value))
    return value.filter((item) => typeof item !== 'object' && typeof item !== 'function')
  const copy: Record<string, unknown> = {}
  for (const key of Object.getOwnPropertyNames(value))
    copy[key] = harmless(`${what} (${key})`, read(value as Exports, key), depth + 1)
  return copy
}

function isData(holder: Exports, key: PropertyKey): boolean {
  const value = read(holder, key)
  return value === null || !/^(object|function)$/.test(typeof value)
}

function moduleOfModules(): Exports {
  return {
    createRequire: () => {
      const require = (name: string) => {
        const found = modules[name]
        if (found === undefined)
          throw Object.assign(new Error(`Plugins cannot load ${name}.`), { code: 'MODULE_NOT_FOUND' })
        return found
      }
      return Object.assign(require, { resolve: (name: string) => name, cache: {} })
    },
    builtinModules: Object.keys(MODULES),
    isBuiltin: (name: string) => modules[name] !== undefined,
  }
}

/** Removes the properties of an object that are not on a list. */
function strip(holder: object, allowed: ReadonlySet<string>, isKept: (key: PropertyKey) => boolean): void {
  for (const key of ownKeys(holder)) {
    if ((typeof key === 'string' && allowed.has(key)) || isKept(key)) continue
    if (!deleteProperty(holder, key))
      throw new Error(`Node.js ${process.version}: ${String(key)} cannot be taken from plugins.`)
  }
}

/**
 * The object itself is changed: Node.js hands it to every function that a plugin may have put in the place of
 * its own.
 */
function stripProcess(): void {
  const nowhere = () => new Writable({ write: (_piece, _encoding, done) => done() })
  strip(process, new Set(PROCESS.split(' ')), (key) => typeof key === 'symbol')
  for (const [name, fd] of [
    ['stdout', 1],
    ['stderr', 2],
  ] as const)
    defineProperty(process, name, { value: Object.assign(nowhere(), { fd }), enumerable: true })
  defineProperty(process, 'getBuiltinModule', { value: (name: string) => modules[name], enumerable: true })
}

/**
 * Whatever is loaded from now on is the bundle, once, or a module of Node.js as plugins see it: by `import`,
 * `import()` or `require`.
 */
function guardLoading(): void {
  let isBegun = false
  registerHooks({
    resolve: (specifier, context, next) => {
      if (!isBegun) {
        isBegun = true
        return next(specifier, context)
      }
      if (modules[specifier] === undefined) throw denied(`Plugins cannot load ${specifier}.`)
      return { url: SCHEME + specifier, format: 'module', shortCircuit: true }
    },
    load: (url, context, next) => {
      const source = sources[url]
      return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true }
    },
  })
}
