import { useState } from 'preact/hooks'
import { hrefOf, type Route } from '../../routing/routes.ts'
import { FILTER_PARAMETERS } from './filter.ts'
import { keepFilters, readFilters, type SavedFilter } from './kept-filters.ts'

/** The filters that a person has named in this browser, and the place for naming the present one. */
export function SavedFilters({ route: { path, query } }: { readonly route: Route }) {
  const [saved, setSaved] = useState(readFilters)
  const [name, setName] = useState('')
  const present = Object.fromEntries(
    FILTER_PARAMETERS.flatMap((key) => (query[key] ? [[key, query[key]]] : [])),
  )
  const hrefOfFilter = (filter: SavedFilter) => hrefOf(path, filter.query)
  const keep = (filters: readonly SavedFilter[]) => setSaved(keepFilters(filters))
  const isNamed = saved.some((filter) => hrefOfFilter(filter) === hrefOf(path, present))
  if (saved.length === 0 && Object.keys(present).length === 0) return null
  return (
    <section class="filters saved-filters" aria-label="Saved filters">
      {saved.map((filter) => (
        <span key={filter.name}>
          <a href={hrefOfFilter(filter)}>{filter.name}</a>{' '}
          <button
            type="button"
            class="bare"
            aria-label={`Delete filter ${filter.name}`}
            onClick={() => keep(saved.filter((one) => one !== filter))}
          >
            ×
          </button>
        </span>
      ))}
      {Object.keys(present).length > 0 && !isNamed && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (name.trim() === '') return
            keep([...saved.filter((one) => one.name !== name.trim()), { name: name.trim(), query: present }])
            setName('')
          }}
        >
          <label>
            Save filter as
            <input value={name} maxLength={60} onInput={(event) => setName(event.currentTarget.value)} />
          </label>{' '}
          <button type="submit">Save</button>
        </form>
      )}
    </section>
  )
}
