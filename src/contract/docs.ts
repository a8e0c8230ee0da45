import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { builtFile, isMissingPackage, readIfThere } from '../lib/package-files.ts'
import { codegenDocument } from './codegen/document.ts'
import type { Contract, Node } from './document.ts'
import { stringifyJson } from './exact-integers.ts'

/** A page of the documentation, ready to send. */
export interface Page {
  readonly path: string
  /** The required value of the query parameter `profile`; absent if it must be absent. */
  readonly profile?: string
  readonly mediaType: string
  readonly body: string
  /** Changes with the body. */
  readonly version: string
  /** Its address has the version in the query `v`, so a browser may keep it. */
  readonly versioned: boolean
}

const HTML = 'text/html; charset=utf-8'

/** The service serves the program of the reference page itself, so that the page works without the internet. */
const BUNDLE_PATH = '/docs/redoc.js'

/**
 * Creates the pages of the documentation: `/openapi.yaml`, `/openapi.json`, and `/docs` with its program. They never change while the
 * process lives. The derived documents are created on the first request.
 */
export async function documentationPages({ document, yaml, json }: Contract): Promise<Page[]> {
  return [...contractPages({ document, yaml, json }), ...referencePages(await readReferenceProgram())]
}

function contractPages({ document, yaml, json }: Pick<Contract, 'document' | 'yaml' | 'json'>): Page[] {
  return [
    page('/openapi.yaml', 'application/yaml', yaml),
    page('/openapi.json', 'application/json', json),
    profile('codegen', () => stringifyJson(codegenDocument(document))),
    profile('reference', () => stringifyJson(referenceDocument(document))),
  ]
}

/** Without its program, the page says where the document is. */
function referencePages(program: string | undefined): Page[] {
  if (program === undefined) return [page('/docs', HTML, BARE_PAGE)]
  const script = page(BUNDLE_PATH, 'text/javascript; charset=utf-8', program)
  return [
    page('/docs', HTML, referencePage(`${BUNDLE_PATH}?v=${script.version}`)),
    { ...script, versioned: true },
  ]
}

function page(path: string, mediaType: string, body: string): Page {
  const version = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  return { path, mediaType, body, version, versioned: false }
}

/** Creates a page of a document that is derived from the contract, when its body or version is first read. */
function profile(name: string, derive: () => string): Page {
  let made: Page | undefined
  const read = () => {
    made ??= page('/openapi.json', 'application/json', derive())
    return made
  }
  return {
    path: '/openapi.json',
    profile: name,
    mediaType: 'application/json',
    get body() {
      return read().body
    },
    get version() {
      return read().version
    },
    versioned: false,
  }
}

const BARE_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Relayer API reference</title></head>
<body><p>This installation was built without the program of the reference page. <code>npm ci</code> and <code>npm run build</code> make it.
The document itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</p></body>
</html>
`

/** The options keep every resource on this host: Redoc starts no search worker and uses the fonts of the reader's system. */
const referencePage = (script: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Relayer API reference</title>
<link rel="icon" href="data:,">
<style>body { margin: 0; }</style>
</head>
<body>
<redoc
  spec-url="/openapi.json?profile=reference"
  disable-search="true"
  hide-download-button="true"
  theme='{"typography":{"fontFamily":"system-ui, sans-serif","headings":{"fontFamily":"system-ui, sans-serif"},"code":{"fontFamily":"ui-monospace, monospace"}}}'
></redoc>
<noscript>The reference needs JavaScript. The document itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</noscript>
<script src="${script}"></script>
</body>
</html>
`

/** The largest integer that a browser shows exactly. */
const LARGEST_EXACT = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Derives the document for the reference page: integers of more than 53 bits have no bounds, because a browser would show rounded
 * ones, and no pattern, because it is a page long. Their format and their description say the range.
 */
export function referenceDocument(document: Node): Node {
  return withoutWideBounds(document) as Node
}

function withoutWideBounds(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutWideBounds)
  if (typeof node !== 'object' || node === null) return node
  const { minimum, maximum, pattern, ...rest } = node as Node
  const shown = isWide(maximum) ? rest : (node as Node)
  return Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, withoutWideBounds(value)]))
}

function isWide(maximum: unknown): boolean {
  return typeof maximum === 'bigint' && maximum > LARGEST_EXACT
}

/** `prepare` copies the program of the reference page here. */
export const REFERENCE_PROGRAM = builtFile('redoc.js')

/** Redoc shows a logo from its own host, its only external resource. An empty image replaces it; the text beside it stays. */
const EXTERNAL_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg'
const EMPTY_IMAGE = 'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22/%3E'

/**
 * Reads the program of the reference page. A checkout that was installed without scripts takes it from the development dependency. Returns
 * undefined if neither is there.
 */
async function readReferenceProgram(file: string = REFERENCE_PROGRAM): Promise<string | undefined> {
  const program = (await readIfThere(file)) ?? (await readFromPackage())
  return program?.replaceAll(EXTERNAL_LOGO, EMPTY_IMAGE)
}

async function readFromPackage(): Promise<string | undefined> {
  try {
    return await readFile(createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js'), 'utf8')
  } catch (error) {
    if (isMissingPackage(error, 'redoc')) return undefined
    throw error
  }
}
