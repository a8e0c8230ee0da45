/** Copies the name and the code of a library's error. Its other fields can hold the request, with the token in its headers. */
export function bareCause(error: unknown): Error {
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown }
  return new Error([name, code].filter((part) => typeof part === 'string').join(' ') || 'unknown error')
}
