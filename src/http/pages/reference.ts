import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type Page, page } from '../../contract/docs.ts'
import type { Contract } from '../../contract/document.ts'
import { builtFile, isMissingPackage, readIfThere } from '../../lib/package-files.ts'

/** `prepare` copies the program of the reference page here. */
export const REFERENCE_PROGRAM = builtFile('redoc.js')

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

interface ReferenceOptions {
  readonly contract: Pick<Contract, 'document'>
  readonly linksToConsole: boolean
  readonly linksToGuides: boolean
}

/**
 * Creates `/docs` with its two programs: Redoc, and the one that starts it. Without Redoc, the page says
 * where the document is.
 */
export async function referencePages(options: ReferenceOptions): Promise<Page[]> {
  const program = await readReferenceProgram()
  if (program === undefined) return [page('/docs', HTML, BARE_PAGE)]
  const scripts = [page('/docs/redoc.js', SCRIPT, program), page('/docs/start.js', SCRIPT, START)]
  const sources = scripts.map(({ path, version }) => `${path}?v=${version}`)
  return [
    page('/docs', HTML, referencePage(sources, options)),
    ...scripts.map((script) => ({ ...script, versioned: true })),
  ]
}

const BARE_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Relayer API reference</title></head>
<body><p>This installation was built without the program of the reference page. <code>npm ci</code> and <code>npm run build</code> make it.
The document itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</p></body>
</html>
`

const referencePage = (
  scripts: readonly string[],
  { contract, linksToConsole, linksToGuides }: ReferenceOptions,
) =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Relayer API reference</title>
<link rel="icon" href="data:,">
<link rel="preload" as="fetch" crossorigin href="/openapi.json?profile=reference">
<style>${STYLE}</style>
</head>
<body>
<nav>${linksToGuides ? '<a href="/docs/guides">Guides</a>' : ''}<a href="/openapi.yaml">openapi.yaml</a><a href="/openapi.json">openapi.json</a>${linksToConsole ? '<a href="/console">Console</a>' : ''}</nav>
<main id="introduction">${introductionOf(contract)}</main>
<div id="reference"></div>
<noscript>The reference needs JavaScript. The document itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</noscript>
${scripts.map((script) => `<script defer src="${script}"></script>`).join('\n')}
</body>
</html>
`

/**
 * The column of examples has a colour only beside an operation. The last rules are for what Redoc draws for a
 * light page, whatever its theme is.
 */
const STYLE = `
body { margin: 0; background: #fff; color: #333; font: 14px/1.5 system-ui, sans-serif; }
nav { display: flex; gap: 20px; justify-content: flex-end; padding: 8px 40px; }
nav a { color: inherit; }
#introduction { margin: 40px; max-width: 60em; }
#introduction h1 { font-weight: 400; }
.api-content + div { display: none; }
.http-verb + span { line-height: 1.7; }
.redoc-json code { white-space: pre-wrap !important; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
  body { background: #16191d; color: #d7dbe0; }
  .api-content h5, .api-content h5 span { color: #a3abb5 !important; border-color: #3a414b !important; }
  .api-content h5 polygon, .http-verb ~ svg polygon { fill: #a3abb5 !important; }
  .api-content table tr, .api-content table th, .api-content table td { background: transparent !important; border-color: #3a414b !important; }
  .api-content :is(div > button:not(:has(svg)), label):not(.react-tabs__tab-panel *), .api-content .react-tabs__tab--selected { color: #16191d !important; }
}
`

/**
 * Starts Redoc. Everything comes from this host: Redoc searches in a worker of its own code, and uses the
 * fonts of the reader's system.
 */
const START = `
const dark = matchMedia('(prefers-color-scheme: dark)')
dark.addEventListener('change', () => location.reload())

const fonts = {
  fontFamily: 'system-ui, sans-serif',
  headings: { fontFamily: 'system-ui, sans-serif' },
  code: { fontFamily: 'ui-monospace, monospace' },
}
const light = { typography: fonts }
const night = {
  colors: {
    primary: { main: '#8ab4f8' },
    text: { primary: '#d7dbe0', secondary: '#a3abb5' },
    success: { main: '#5bb974' },
    error: { main: '#f28b82' },
    border: { dark: '#3a414b', light: '#2a3038' },
    gray: { 50: '#1e2329', 100: '#252b32' },
  },
  typography: { ...fonts, code: { ...fonts.code, color: '#f2a0a0', backgroundColor: '#252b32' } },
  schema: { nestedBackground: '#1e2329', linesColor: '#4a5360', requireLabelColor: '#f28b82' },
  sidebar: { backgroundColor: '#1b1f24', textColor: '#d7dbe0' },
  rightPanel: {
    backgroundColor: '#20262d',
    servers: { overlay: { backgroundColor: '#1e2329', textColor: '#d7dbe0' }, url: { backgroundColor: '#16191d' } },
  },
}

const start = () =>
  Redoc.init(
    '/openapi.json?profile=reference',
    { pathInMiddlePanel: true, hideDownloadButtons: true, theme: dark.matches ? night : light },
    document.getElementById('reference'),
    () => document.getElementById('introduction').remove(),
  )
// Drawing the contract takes a browser seconds, in which it shows nothing new. So the introduction is painted
// before.
requestAnimationFrame(() => setTimeout(start))
`

/** The title and the first paragraph of the contract, which stand there before Redoc has drawn them. */
function introductionOf({ document }: Pick<Contract, 'document'>): string {
  const { title, version, description } = document.info as Readonly<Record<string, string>>
  const [paragraph = ''] = description?.split('\n\n') ?? []
  return `<h1>${title} (${version})</h1><p>${paragraph.replaceAll('*', '')}</p>`
}

/**
 * Redoc shows a logo from its own host, its only external resource. An empty image replaces it; the text
 * beside it stays.
 */
const EXTERNAL_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg'
const EMPTY_IMAGE = 'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22/%3E'

/**
 * Reads the program of the reference page. A checkout that was installed without scripts takes it from the
 * development dependency. Returns undefined if neither is there.
 */
async function readReferenceProgram(): Promise<string | undefined> {
  const program = (await readIfThere(REFERENCE_PROGRAM)) ?? (await readFromPackage())
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
