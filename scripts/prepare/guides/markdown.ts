import { Lexer, type marked, Parser, Renderer } from 'marked'
import { drawDiagram } from './diagram.ts'

type Token = marked.Token

/** A part of a page below one heading, for the search. */
export interface Section {
  /** Empty for what stands before the first heading of the second level. */
  readonly anchor: string
  readonly heading: string
  readonly text: string
}

/** A document as HTML. */
export interface Rendered {
  readonly title: string
  readonly html: string
  readonly sections: readonly Section[]
}

/** Returns where a link leads; undefined for a file that the site does not have. */
export type ResolveLink = (href: string) => string | undefined

/** Converts a document. Headings have the anchors that GitHub gives them, so links work in both places. */
export function renderMarkdown(markdown: string, resolve: ResolveLink): Rendered {
  const tokens = new Lexer().lex(markdown)
  const anchors = createAnchors()
  const anchorOf: ReadonlyMap<Token, string> = new Map<Token, string>(
    tokens.flatMap((token) => (token.type === 'heading' ? [[token, anchors(token.text)]] : [])),
  )
  const html = tokens.map((token) => render(token, anchorOf.get(token), resolve)).join('')
  const title = tokens.find((token) => token.type === 'heading' && token.depth === 1)
  return {
    title: title?.type === 'heading' ? plainText(Parser.parseInline(title.tokens)) : '',
    html,
    sections: sectionsOf(tokens, anchorOf, resolve),
  }
}

function render(token: Token, anchor: string | undefined, resolve: ResolveLink): string {
  if (token.type === 'space') return ''
  const renderer = rendererFor(resolve, anchor)
  // Definitions of links belong to the document, and this project has none.
  const list = Object.assign([token], { links: {} })
  return new Parser({ renderer }).parse(list)
}

function rendererFor(resolve: ResolveLink, anchor: string | undefined): Renderer {
  const renderer = new Renderer()
  renderer.heading = (text, level) =>
    level === 1
      ? `<h1 id="${anchor}">${text}</h1>\n`
      : `<h${level} id="${anchor}"><a href="#${anchor}">${text}</a></h${level}>\n`
  renderer.link = (href, _title, text) => {
    const target = href === null ? undefined : resolve(href)
    return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`
  }
  renderer.image = (href, _title, text) => {
    const target = href === null ? undefined : resolve(href)
    return target === undefined
      ? escapeHtml(text)
      : `<img src="${escapeHtml(target)}" alt="${escapeHtml(text)}" loading="lazy">`
  }
  // A table that is too wide scrolls in a frame of its own, which the keyboard reaches.
  renderer.table = (header, body) =>
    `<div class="wide" role="group" aria-label="Table" tabindex="0"><table><thead>${header}</thead><tbody>${body}</tbody></table></div>\n`
  // A column without a name has an ordinary cell above it: an empty header says nothing to screen readers.
  renderer.tablecell = (content, { header, align }) => {
    const name = header && content !== '' ? 'th' : 'td'
    return `<${name}${align === null ? '' : ` align="${align}"`}>${content}</${name}>\n`
  }
  renderer.code = (code, language) =>
    language === 'mermaid'
      ? `<div class="wide diagram" role="group" aria-label="Diagram" tabindex="0">${drawDiagram(code)}</div>\n`
      : `<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>\n`
  return renderer
}

/** Writes a text for HTML. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Returns a function that gives headings of one page their anchors: a repeated one gets a number. */
function createAnchors(): (heading: string) => string {
  const counts = new Map<string, number>()
  return (heading) => {
    const slug = plainText(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, ''))
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}

function sectionsOf(
  tokens: readonly Token[],
  anchorOf: ReadonlyMap<Token, string>,
  resolve: ResolveLink,
): readonly Section[] {
  const sections: { anchor: string; heading: string; text: string }[] = []
  for (const token of tokens) {
    if (token.type === 'heading') {
      const heading = plainText(Parser.parseInline(token.tokens))
      sections.push({ anchor: token.depth === 1 ? '' : (anchorOf.get(token) ?? ''), heading, text: '' })
    } else {
      const last = sections.at(-1)
      if (last) last.text += ` ${plainText(render(token, undefined, resolve))}`
    }
  }
  return sections.map((section) => ({ ...section, text: section.text.replaceAll(/\s+/g, ' ').trim() }))
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Returns the text of HTML. */
function plainText(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_entity, name: string) => ENTITIES[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
