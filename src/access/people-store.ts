import { sql } from 'kysely'

/**
 * Selects the person with the id in this column, as the provider named them last; null for an API key. The
 * fields are those of `Person`.
 */
export function personWithId(column: string) {
  return sql<object | null>`(
    select jsonb_strip_nulls(jsonb_build_object(
      'issuer', issuer, 'subject', subject, 'name', people.name, 'email', email))
    from people where people.id = ${sql.ref(column)})`
}
