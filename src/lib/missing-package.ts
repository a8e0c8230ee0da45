/** Returns true when an import failed because the package of this name is not installed. */
export function isMissingPackage(error: unknown, name: string): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return false
  return new RegExp(`Cannot find (package|module) '${name}['/]`).test(String(message))
}
