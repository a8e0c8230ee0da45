import { createHash } from 'node:crypto'
import { codegenDocument } from './codegen/document.ts'
import type { Contract } from './document.ts'
import { stringifyJson } from './exact-integers.ts'
import { referenceDocument } from './reference-document.ts'
import { readReferenceProgram } from './reference-program.ts'

/** A page of the documentation, ready to send. */
export interface Page {
  readonly path: string
  /** The query parameter `profile` has this value. Absent when it has to be absent. */
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
 * Creates the pages of the documentation: `/openapi.yaml`, `/openapi.json`, and `/docs` with its program. They never change
 * while the process lives. The documents that are derived from the contract are made when somebody first asks for them.
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
