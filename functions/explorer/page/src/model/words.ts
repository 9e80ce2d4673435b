// Numbers in texts.

export const count = (n: number) => n.toLocaleString("en-US")
export const plural = (n: number, word: string, many = word + "s") => `${count(n)} ${n === 1 ? word : many}`
