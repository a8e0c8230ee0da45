import { builtinModules, registerHooks } from 'node:module'
import { _createServerHandle as createServerHandle, Socket } from 'node:net'
import { Writable } from 'node:stream'
import { createSecureContext } from 'node:tls'
import { GLOBALS, MODULES, PIPE_KEY, PROCESS } from './allowed.ts'

/**
 * The wall of a plugin's process, which Node.js runs before anything else (`--import`). What it does not name in `allowed.ts` is gone when the
 * code of the plugin begins. It has a module of its own, so no `eval` in the bundle sees its variables. Node's permission model stands behind it.
 */

declare module 'node:net' {
  /** Makes a socket that is bound to an address, of the class that Node.js uses for TCP. */
  export function _createServerHandle(address: string, port: number, family: number): { close(): void }
}

type Exports = Readonly<Record<PropertyKey, unknown>>

/** The pipe to the service is the fourth file of the process. */
const PIPE = 3

/** The url of a module of Node.js as a plugin sees it. */
const SCHEME = 'plugin-wall:'

const { getBuiltinModule } = process
const { getOwnPropertyDescriptor, ownKeys, deleteProperty, defineProperty } = Reflect

/** Every name of a module, without the prefix. */
const KNOWN = new Set(builtinModules.map(withoutPrefix))

const pipe = new Socket({ fd: PIPE, readable: true, writable: true })
removeNativeDoors(pipe)
defineProperty(globalThis, PIPE_KEY, { value: pipe, configurable: true })

/** The modules as plugins see them, by name. */
const seen = new Map<string, unknown>()
stripProcess()
strip(globalThis, new Set(GLOBALS.split(' ')), (key) => key === PIPE_KEY || key === Symbol.toStringTag)
guardLoading()

/**
 * Takes from the classes of Node.js what opens a Unix socket, a descriptor or a library. JavaScript can reach these classes from any socket, so
 * hiding the functions that call them would not do.
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

/** Gives the function that stands in the place of a refused one. Classes can extend it, so that packages load. */
function refusing(what: string): () => never {
  // An arrow function cannot be extended.
  return function refuse(): never {
    throw denied(`Plugins cannot use ${what}.`)
  }
}

function denied(message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_ACCESS_DENIED' })
}

/** Refuses as functions of these modules do: by a promise, by a callback, or by an error. Packages expect that a file cannot be read. */
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

function withoutPrefix(name: string): string {
  return name.replace(/^node:/, '')
}

/** Returns a module as plugins see it; undefined for a name that Node.js does not know. */
function moduleOf(given: unknown): unknown {
  const name = withoutPrefix(String(given))
  if (!KNOWN.has(name)) return undefined
  if (!seen.has(name)) show(name)
  return seen.get(name)
}

function show(name: string): void {
  const real = load(name)
  const allowed = new Set(Object.hasOwn(MODULES, name) ? MODULES[name]?.split(' ') : [])
  if (name === 'process') seen.set(name, process)
  else if (name === 'module') seen.set(name, moduleOfModules())
  else if (typeof real === 'function' && allowed.size > 0) {
    strip(real, new Set([...allowed, 'length', 'name', 'prototype']), (key) => isData(real as never, key))
    seen.set(name, real)
  } else {
    const shown: Record<string, unknown> = {}
    // Now, because a module may have itself as an export.
    seen.set(name, shown)
    fill(shown, { name, real, allowed })
    if (name === 'fs') withStandardOutput(shown)
  }
}

interface Source {
  readonly name: string
  readonly real: Exports
  readonly allowed: ReadonlySet<string>
}

function fill(shown: Record<string, unknown>, { name, real, allowed }: Source): void {
  for (const key of Object.getOwnPropertyNames(real)) {
    const property = getOwnPropertyDescriptor(real, key)
    if (!allowed.has(key)) shown[key] = harmless(`node:${name} (${key})`, read(real, key))
    else if (property !== undefined && 'value' in property) shown[key] = shownValue(property.value)
    else
      defineProperty(shown, key, {
        get: () => shownValue(read(real, key)),
        set: (value) => Reflect.set(real, key, value),
        enumerable: true,
        configurable: true,
      })
  }
}

/** Loggers write to the standard output by its descriptor, which leads nowhere. */
function withStandardOutput(shown: Record<string, unknown>): void {
  const lengthOf = (piece: unknown) =>
    typeof piece === 'string' ? Buffer.byteLength(piece) : Number(Object(piece).byteLength)
  const { write, writeSync } = shown as Record<string, (...values: unknown[]) => unknown>
  shown.writeSync = (fd: unknown, piece: unknown, ...others: unknown[]) =>
    fd === 1 || fd === 2 ? lengthOf(piece) : writeSync?.(fd, piece, ...others)
  shown.write = (fd: unknown, piece: unknown, ...others: unknown[]) => {
    const done = others.at(-1)
    if ((fd !== 1 && fd !== 2) || typeof done !== 'function') return write?.(fd, piece, ...others)
    setImmediate(() => done(null, lengthOf(piece), piece))
    return undefined
  }
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

/** A module inside another one, such as `dns.promises`, is shown as it is when it is imported by itself. */
function shownValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const name = Object.keys(MODULES).find((known) => known.includes('/') && load(known) === value)
  return name === undefined ? value : moduleOf(name)
}

const DEPTH = 2

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
  const require = (name: unknown) => {
    const found = moduleOf(name)
    if (found === undefined)
      throw Object.assign(new Error(`Plugins cannot load ${String(name)}.`), { code: 'MODULE_NOT_FOUND' })
    return found
  }
  return {
    createRequire: () => Object.assign(require, { resolve: (name: string) => name, cache: {} }),
    builtinModules: Object.keys(MODULES),
    isBuiltin: (name: unknown) => KNOWN.has(withoutPrefix(String(name))),
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

/** The object itself is changed: Node.js hands it to every function that a plugin may have put in the place of its own. */
function stripProcess(): void {
  const nowhere = () => new Writable({ write: (_piece, _encoding, done) => done() })
  strip(process, new Set(PROCESS.split(' ')), (key) => typeof key === 'symbol')
  for (const [name, fd] of [
    ['stdout', 1],
    ['stderr', 2],
  ] as const)
    defineProperty(process, name, { value: Object.assign(nowhere(), { fd }), enumerable: true })
  defineProperty(process, 'getBuiltinModule', { value: moduleOf, enumerable: true })
}

/** Whatever is loaded from now on is the bundle, once, or a module of Node.js as plugins see it: by `import`, `import()` or `require`. */
function guardLoading(): void {
  let isBegun = false
  registerHooks({
    resolve: (specifier, context, next) => {
      if (!isBegun && context.parentURL === undefined) {
        isBegun = true
        return next(specifier, context)
      }
      if (moduleOf(specifier) === undefined) throw denied(`Plugins cannot load ${specifier.slice(0, 100)}.`)
      return { url: `${SCHEME}${withoutPrefix(specifier)}`, format: 'module', shortCircuit: true }
    },
    load: (url, context, next) => {
      if (!url.startsWith(SCHEME)) return next(url, context)
      const name = url.slice(SCHEME.length)
      const names = Object.keys(moduleOf(name) as object).filter(
        (key) => /^[A-Za-z_$][\w$]*$/.test(key) && key !== 'default',
      )
      const text = `const it = process.getBuiltinModule(${JSON.stringify(name)})
export default it
${names.map((key, at) => `const v${at} = it.${key}\nexport { v${at} as ${key} }`).join('\n')}`
      return { format: 'module', source: text, shortCircuit: true }
    },
  })
}
