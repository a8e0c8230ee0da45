import MiniSearch from 'minisearch'
import type { SearchEntry } from '../search-entry.ts'

/** More than these are not what a person looks for. */
const MOST_RESULTS = 20

/** The words around the first hit, in characters. */
const BEFORE = 60
const SHOWN = 180

const program = document.currentScript as HTMLScriptElement
const form = document.querySelector('form') as HTMLFormElement
const input = document.querySelector('#search') as HTMLInputElement
const results = document.querySelector('#results') as HTMLElement

type Hit = Omit<SearchEntry, 'text'> & { readonly text: string; readonly terms: readonly string[] }

/** The sections are loaded once, when a person begins to search. */
let index: Promise<MiniSearch> | undefined

async function load(): Promise<MiniSearch> {
  const response = await fetch(program.dataset.entries ?? '')
  if (!response.ok) throw new Error(`the sections answered ${response.status}`)
  const entries = (await response.json()) as SearchEntry[]
  const search = new MiniSearch({
    fields: ['heading', 'page', 'text'],
    storeFields: ['page', 'heading', 'text', 'href'],
    searchOptions: { boost: { heading: 4, page: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  })
  search.addAll(entries.map((entry, id) => ({ id, ...entry })))
  return search
}

async function show(): Promise<void> {
  const words = input.value.trim()
  if (words === '') {
    results.hidden = true
    return
  }
  index ??= load()
  try {
    const found = (await index).search(words).slice(0, MOST_RESULTS) as unknown as Hit[]
    // A slow answer must not replace that of what was written since.
    if (words !== input.value.trim()) return
    results.replaceChildren(
      ...(found.length === 0 ? [paragraph(`Nothing about “${words}”.`)] : [listOf(found)]),
    )
  } catch {
    index = undefined
    results.replaceChildren(paragraph('The search could not be loaded. Try again.'))
  }
  results.hidden = false
}

function listOf(found: readonly Hit[]): HTMLElement {
  const list = document.createElement('ol')
  list.append(
    ...found.map((hit) => {
      const item = document.createElement('li')
      const link = document.createElement('a')
      link.href = hit.href
      link.textContent = hit.heading === hit.page ? hit.page : `${hit.page} › ${hit.heading}`
      item.append(link, paragraph(excerptOf(hit)))
      return item
    }),
  )
  return list
}

function excerptOf({ text, terms }: Hit): string {
  const lower = text.toLowerCase()
  const hits = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0)
  const from = Math.max(0, Math.min(...hits, text.length) - BEFORE)
  const start = hits.length === 0 ? 0 : from
  return `${start > 0 ? '… ' : ''}${text.slice(start, start + SHOWN)}${text.length > start + SHOWN ? ' …' : ''}`
}

function paragraph(words: string): HTMLElement {
  const element = document.createElement('p')
  element.textContent = words
  return element
}

form.hidden = false
form.addEventListener('submit', (event) => event.preventDefault())
input.addEventListener('input', show)
results.addEventListener('click', () => {
  results.hidden = true
})
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') results.hidden = true
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault()
    input.focus()
  }
})
// A wide page shows the menu without being asked.
const menu = document.querySelector('.menu') as HTMLDetailsElement
menu.open = matchMedia('(min-width: 60rem)').matches
