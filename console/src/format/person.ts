import type { Schemas } from '../../../clients/typescript/src/index.ts'

/** Names a person by what people recognise. */
export function nameOfPerson({ name, email, subject }: Schemas['Person']): string {
  return name && email ? `${name} (${email})` : (email ?? name ?? subject)
}

/** Names the API key or the person who did something. */
export function nameOfCaller(id: string, person: Schemas['Person'] | undefined): string {
  return person === undefined ? `API key ${id}` : nameOfPerson(person)
}
