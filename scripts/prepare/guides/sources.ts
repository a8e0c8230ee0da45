import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** The documents beside the folder `docs`, with the names of their pages. */
const OTHERS: Readonly<Record<string, string>> = {
  'README.md': 'readme',
  'SECURITY.md': 'security',
  'CHANGELOG.md': 'changelog',
  'CONTRIBUTING.md': 'contributing',
  'ops/README.md': 'alert-rules',
  'plugins/README.md': 'shipped-plugins',
  'clients/typescript/README.md': 'typescript-client',
}

/** Everything that decides what the pages are, but the tools. */
export const OF_GUIDES = [
  'docs',
  'openapi.yaml',
  'clients/typescript/src/generated/operations.ts',
  ...Object.keys(OTHERS),
]

/** A document, and the page that it becomes. */
export interface Source {
  /** The path of the document in the repository. */
  readonly file: string
  /** The name of its page below `/docs/guides/`; empty for the first one. */
  readonly name: string
  readonly markdown: string
}

/** Reads all documents. */
export function readSources(root: string): readonly Source[] {
  const guides = globSync('docs/**/*.md', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
  const read = (file: string, name: string): Source => ({
    file,
    name,
    markdown: readFileSync(join(root, file), 'utf8'),
  })
  return [
    ...guides.map((file) =>
      read(file, file === 'docs/README.md' ? '' : file.slice('docs/'.length, -'.md'.length)),
    ),
    ...Object.entries(OTHERS).map(([file, name]) => read(file, name)),
  ]
}

/** The path below which the service serves the pages. */
export const BASE = '/docs/guides'

/** Returns the address of a page. */
export function addressOf(name: string): string {
  return name === '' ? BASE : `${BASE}/${name}`
}

/** The files of the service that documents link to, and that it serves elsewhere. */
const SERVED: Readonly<Record<string, string>> = { 'openapi.yaml': '/openapi.yaml' }

/**
 * Returns where a link of a document leads on the site: to a page, to another host, or to nothing, because
 * the site does not have the file.
 */
export function resolveLink(href: string, file: string, sources: readonly Source[]): string | undefined {
  if (/^(https?:|mailto:|#)/.test(href)) return href
  const [path = '', anchor] = href.split('#', 2)
  const target = posix.normalize(posix.join(posix.dirname(file), path))
  const page = sources.find((source) => source.file === target)
  if (page === undefined) return SERVED[target]
  return anchor === undefined ? addressOf(page.name) : `${addressOf(page.name)}#${anchor}`
}
