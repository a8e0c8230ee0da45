import { stringifyJson } from '../../../clients/typescript/src/exact-json.ts'
import { indentJson } from '../format/indent-json.ts'

/** Shows a record as JSON with exact integers. The region can be scrolled with the keyboard. */
export function Json({ value, name }: { readonly value: unknown; readonly name: string }) {
  return (
    <pre>
      <code>
        <span class="unseen">{name}: </span>
        {indentJson(stringifyJson(value))}
      </code>
    </pre>
  )
}
