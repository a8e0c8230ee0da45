import { stringifyJson } from '../../../clients/typescript/src/exact-json.ts'

/** Shows a record as JSON with exact integers. The region can be scrolled with the keyboard. */
export function Json({ value, name }: { readonly value: unknown; readonly name: string }) {
  return (
    <pre>
      <code>
        <span class="unseen">{name}: </span>
        {indent(stringifyJson(value))}
      </code>
    </pre>
  )
}

/** Indents JSON text without reading its numbers, so that every digit stays. */
function indent(json: string): string {
  let depth = 0
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (token) => {
    if (token === '{' || token === '[') return `${token}\n${'  '.repeat(++depth)}`
    if (token === '}' || token === ']') return `\n${'  '.repeat(--depth)}${token}`
    if (token === ',') return `,\n${'  '.repeat(depth)}`
    return token === ':' ? ': ' : token
  })
}
