import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { type Import, readImports, sourceFiles } from './read-imports.ts'
import { GENERATED_READER, type Rules } from './rules.ts'

/** Everything in the tree under `root` that breaks a rule, one readable line each; empty when all is well. */
export function findViolations(root: string, rules: Rules): string[] {
  const imports = readImports(root)
  return [
    ...imports.flatMap((one) => (one.kind === 'file' ? brokenArrow(one, rules) : foreignPackage(one, rules))),
    ...findCycles(imports).map((cycle) => `cycle: ${cycle.join(' -> ')}`),
    ...findMutualFolders(imports),
    ...sourceFiles(root).flatMap((file) => misplacedText(root, file, rules)),
  ]
}

/**
 * Plugins are clients: each imports packages, its own folder and what they share, and nothing of the service.
 * Their tests start it.
 */
export function findPluginViolations(root: string): string[] {
  return readImports(root)
    .filter(
      ({ from, to, kind }) =>
        kind === 'file' && !from.endsWith('.test.ts') && ![partOf(from), 'shared/'].includes(partOf(to)),
    )
    .map(
      ({ from, to, line }) =>
        `plugins/${from}:${line}: imports ${to}; a plugin imports its own folder, plugins/shared and packages`,
    )
}

/** The folder, or the file, directly under the root. */
function partOf(path: string): string {
  const slash = path.indexOf('/')
  return slash === -1 ? path : path.slice(0, slash + 1)
}

function fits(path: string, pattern: string): boolean {
  if (pattern === '*') return true
  if (pattern.startsWith('*')) return path.endsWith(pattern.slice(1))
  return pattern.endsWith('/') ? path.startsWith(pattern) : path === pattern
}

function brokenArrow({ from, to, line }: Import, { arrows }: Rules): string[] {
  const part = partOf(from)
  if (to.startsWith('../generated/') && from !== GENERATED_READER) {
    return [`${from}:${line}: imports ${to}; only ${GENERATED_READER} does`]
  }
  if (partOf(to) === part) return []
  const allowed = arrows[part]
  if (allowed === undefined) return [`${from}:${line}: ${part} has no rule; give it one`]
  if (allowed.some((pattern) => fits(to, pattern))) return []
  return [`${from}:${line}: imports ${to}; ${part} may not`]
}

function foreignPackage({ from, to, line, typeOnly }: Import, { packages }: Rules): string[] {
  if (to.startsWith('node:')) return []
  const rule = packages[to]
  if (rule === undefined) return [`${from}:${line}: imports ${to}, which has no rule; give it one`]
  if (typeOnly && rule.typesAnywhere) return []
  if (rule.in.some((pattern) => fits(from, pattern))) return []
  return [`${from}:${line}: imports ${to}; only ${rule.in.join(', ')} may`]
}

/** Each cycle of imports, those of types included, once, starting at its first file by name. */
function findCycles(imports: readonly Import[]): string[][] {
  const edges = Map.groupBy(
    imports.filter((one) => one.kind === 'file'),
    (one) => one.from,
  )
  const cycles = new Map<string, string[]>()
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file)
    if (start !== -1) {
      const cycle = fromFirst(path.slice(start))
      cycles.set(cycle.join(), [...cycle, cycle[0] ?? ''])
      return
    }
    if (done.has(file)) return
    for (const { to } of edges.get(file) ?? []) walk(to, [...path, file])
    done.add(file)
  }
  for (const file of edges.keys()) walk(file, [])
  return [...cycles.values()]
}

/** The folders of `src`, and those of its largest one, that import each other. */
function findMutualFolders(imports: readonly Import[]): string[] {
  const edges = new Map(
    imports.flatMap((one) => {
      const [from, to] = [roomOf(one.from), roomOf(one.to)]
      return one.kind === 'file' && from !== to ? [[`${from} ${to}`, { one, from, to }] as const] : []
    }),
  )
  return [...edges.values()].flatMap(({ one, from, to }) => {
    const back = edges.get(`${to} ${from}`)?.one
    if (back === undefined || from > to) return []
    return [`${from} and ${to} import each other: ${one.from} -> ${one.to}, ${back.from} -> ${back.to}`]
  })
}

function roomOf(path: string): string {
  const [part, inner, ...rest] = path.split('/')
  return part === 'transactions' && rest.length > 0 ? `${part}/${inner}/` : partOf(path)
}

function fromFirst(cycle: readonly string[]): string[] {
  const first = cycle.indexOf([...cycle].sort()[0] ?? '')
  return [...cycle.slice(first), ...cycle.slice(0, first)]
}

function misplacedText(root: string, file: string, { onlyIn }: Rules): string[] {
  const code = codeOf(join(root, file))
  return Object.entries(onlyIn).flatMap(([text, files]) => {
    const isAllowed = files.some((one) => (one.endsWith('/') ? file.startsWith(one) : file === one))
    if (isAllowed || !code.includes(text)) return []
    return [`${file}: uses ${text}; only ${files.join(', ')} may`]
  })
}

/** The code without its comments, which may name anything. */
function codeOf(path: string): string {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, true)
  return ts.createPrinter({ removeComments: true }).printFile(source)
}
