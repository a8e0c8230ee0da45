import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '../../../src/contract/document.ts'
import { escapeHtml, type Rendered, renderMarkdown } from './markdown.ts'
import { clientDocument, operationsDocument } from './reference.ts'
import type { SearchEntry } from './search-entry.ts'
import { addressOf, BASE, readSources, resolveLink, type Source } from './sources.ts'

/** The pages of the site, by the names of their files. */
export interface Site {
  readonly pages: ReadonlyMap<string, string>
  readonly entries: readonly SearchEntry[]
}

/** The addresses of the files that every page loads. */
export interface Assets {
  readonly script: string
  readonly style: string
  /** The sections, for the search. */
  readonly entries: string
}

/**
 * Renders all documents, the operations of the contract and the methods of the client. Reads files, and
 * writes none.
 */
export async function renderSite(root: string): Promise<{ site: (assets: Assets) => Site }> {
  const written = readSources(root)
  const contract = await parseYaml(readFileSync(join(root, 'openapi.yaml'), 'utf8'))
  const generated = readFileSync(join(root, 'clients/typescript/src/generated/operations.ts'), 'utf8')
  const sources: readonly Source[] = [
    ...written,
    { file: 'operations', name: 'operations', markdown: operationsDocument(contract) },
    { file: 'client-methods', name: 'client-methods', markdown: clientDocument(generated) },
  ]
  const rendered = sources.map((source) => ({ source, ...renderSource(source, sources) }))
  const groups = groupsOf(sources)
  const entries = rendered.flatMap(entriesOf)
  return {
    site: (assets) => ({
      pages: new Map(
        rendered.map((one) => [`${one.source.name || 'index'}.html`, pageOf(one, { groups, assets })]),
      ),
      entries,
    }),
  }
}

function renderSource(source: Source, sources: readonly Source[]): Rendered {
  return renderMarkdown(source.markdown, (href) => {
    // The generated documents link to the reference, which is no document.
    if (href.startsWith('/')) return href
    if (/\.(png|svg)$/.test(href) && source.file.startsWith('docs/')) return `${BASE}/${href}`
    return resolveLink(href, source.file, sources)
  })
}

function entriesOf({ source, title, sections }: Rendered & { readonly source: Source }): SearchEntry[] {
  return sections.map(({ anchor, heading, text }) => ({
    page: title,
    heading,
    text,
    href: `${addressOf(source.name)}${anchor && `#${anchor}`}`,
  }))
}

/** A part of the navigation. */
interface Group {
  readonly name: string
  readonly links: readonly { readonly name: string; readonly href: string }[]
}

/**
 * The navigation has the groups of the index of the documentation, and a last one with what stands beside it.
 */
function groupsOf(sources: readonly Source[]): readonly Group[] {
  const index = sources.find(({ name }) => name === '')
  const parts = (index?.markdown ?? '').split(/^## /m).slice(1)
  const linked = parts.map((part): Group => {
    const [name = ''] = part.split('\n', 1)
    const links = [...part.matchAll(/\[([^\]]+)\]\(((?!https?:)[^)#]+\.md)\)/g)].map(
      ([, text = '', href = '']) => ({
        name: text,
        href: resolveLink(href, 'docs/README.md', sources) ?? BASE,
      }),
    )
    return { name, links }
  })
  const reference: Group = {
    name: 'Reference',
    links: [
      { name: 'Reference of the API', href: '/docs' },
      { name: 'Operations', href: addressOf('operations') },
      { name: 'TypeScript client', href: addressOf('typescript-client') },
      { name: 'Methods of the client', href: addressOf('client-methods') },
      { name: 'Promises', href: addressOf('security') },
      { name: 'Changes', href: addressOf('changelog') },
    ],
  }
  return [...linked, reference].filter(({ links }) => links.length > 0)
}

interface Frame {
  readonly groups: readonly Group[]
  readonly assets: Assets
}

function pageOf(
  { source, title, html }: Rendered & { readonly source: Source },
  { groups, assets }: Frame,
): string {
  const own = addressOf(source.name)
  const link = ({ name, href }: Group['links'][number]) =>
    `<li><a href="${escapeHtml(href)}"${href === own ? ' aria-current="page"' : ''}>${escapeHtml(name)}</a></li>`
  const navigation = groups.map(
    ({ name, links }) => `<h2>${escapeHtml(name)}</h2><ul>${links.map(link).join('')}</ul>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Relayer guides</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.style}">
<script defer src="${assets.script}" data-entries="${assets.entries}"></script>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a class="home" href="${BASE}">Relayer guides</a>
<form role="search" hidden><label for="search">Search</label><input id="search" type="search" autocomplete="off" placeholder="Search the guides" aria-controls="results"></form>
<a href="/docs">Reference</a>
</header>
<div id="results" role="region" aria-label="Search results" aria-live="polite" hidden></div>
<div class="columns">
<details class="menu"><summary>All pages</summary><nav aria-label="Guides">${navigation.join('')}</nav></details>
<main id="content" tabindex="-1">
${html}</main>
</div>
</body>
</html>
`
}
