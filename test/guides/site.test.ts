import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { renderMarkdown } from '../../scripts/prepare/guides/markdown.ts'
import { renderSite } from '../../scripts/prepare/guides/site.ts'

const ROOT = join(import.meta.dirname, '../..')
const BASE = '/docs/guides'

const { site } = await renderSite(ROOT)
const { pages, entries } = site({ script: '/s.js', style: '/s.css', entries: '/e.json' })

const fileOf = (path: string) => (path === BASE ? 'index.html' : `${path.slice(BASE.length + 1)}.html`)

/** What the service has beside the guides. */
const ELSEWHERE = ['/docs', '/openapi.yaml', '/s.js', '/s.css']

/** Says what is wrong with a link of a page; undefined if it leads somewhere. */
function problemOf(href: string, html: string): string | undefined {
  if (/^https?:\/\//.test(href) || href.startsWith('data:')) return undefined
  const [path = '', anchor] = href.split('#', 2)
  if (ELSEWHERE.includes(path)) return undefined
  if (/\.(png|svg)$/.test(path))
    return existsSync(join(ROOT, 'docs', path.slice(BASE.length + 1)))
      ? undefined
      : `${href}: no such picture`
  const target = path === '' ? html : pages.get(fileOf(path))
  if (target === undefined) return `${href}: no such page`
  return anchor === undefined || target.includes(`id="${anchor}"`) ? undefined : `${href}: no such heading`
}

test.each([...pages])('every link of %s leads somewhere', (_name, html) => {
  const links = [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  )
  expect(links.length).toBeGreaterThan(40)
  expect(links.flatMap((href) => problemOf(href, html) ?? [])).toEqual([])
})

test('every document is a page, and each page has one title and is in the search', () => {
  const documents = globSync('docs/**/*.md', { cwd: ROOT }).map((file) =>
    file.slice('docs/'.length, -'.md'.length),
  )
  const names = documents.map((name) => (name === 'README' ? 'index.html' : `${name}.html`))
  expect([...pages.keys()]).toEqual(expect.arrayContaining(names))
  for (const [name, html] of pages) {
    expect([name, html.match(/<h1 /g)?.length]).toEqual([name, 1])
    expect(entries.some(({ href }) => fileOf(href.split('#')[0] ?? '') === name)).toBe(true)
  }
})

test('every operation and every method of the client is there', () => {
  expect(pages.get('operations.html')).toContain('/docs#tag/Notifications/operation/createNotification')
  expect(pages.get('client-methods.html')).toContain('get(relayerId: string')
})

test('no page has a script, a style or a handler of its own, which its policy would block', () => {
  for (const html of pages.values()) {
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|<[^>]* style=|<[a-z]+[^>]* on[a-z]+=/)
  }
})

describe('a document', () => {
  const html = (markdown: string) => renderMarkdown(markdown, (href) => href).html

  test('has the anchors of GitHub, with numbers for repeated headings', () => {
    const text = html('# A\n\n## Send, and *wait* for `it`!\n\n## Same\n\n## Same\n')
    expect([...text.matchAll(/h2 id="([^"]*)"/g)].map(([, id]) => id)).toEqual([
      'send-and-wait-for-it',
      'same',
      'same-1',
    ])
  })

  test('has its code as text', () => {
    expect(html('```js\nif (a < b) "x"\n```\n')).toContain('if (a &lt; b) &quot;x&quot;')
  })

  test('has no link to a file that the site does not have', () => {
    expect(renderMarkdown('# A\n\n[the code](../src/main.ts)\n', () => undefined).html).not.toContain('<a')
  })
})
