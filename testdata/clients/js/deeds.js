// What can be done to entities, and the letters of the permissions it needs. The entity ("p", "there") exists.
import { keyed, newName, rows } from "./harness.js";

export const deeds = {
  "query": ["r", (by) => rows(by.listEntities())],
  "get": ["r", (by) => by.getEntity("p", "there")],
  "create": ["a", (by) => by.createEntity(keyed(newName()))],
  "merge": ["u", (by) => by.updateEntity(keyed("there"), "Merge")],
  "replace": ["u", (by) => by.updateEntity(keyed("there"), "Replace")],
  "upsert merge": ["au", (by) => by.upsertEntity(keyed("there"), "Merge")],
  "upsert replace": ["au", (by) => by.upsertEntity(keyed("there"), "Replace")],
  "delete": ["d", async (by, owner) => {
    const row = newName();
    await owner.createEntity(keyed(row));
    await by.deleteEntity("p", row);
  }],
  "transaction of creates": ["a", (by) => by.submitTransaction([["create", keyed(newName())], ["create", keyed(newName())]])],
  "transaction of updates": ["u", (by) => by.submitTransaction([["update", keyed("there"), "Merge"]])],
  "transaction of upserts": ["au", (by) => by.submitTransaction([["upsert", keyed("there"), "Merge"]])],
  "mixed transaction": ["au", (by) => by.submitTransaction([["create", keyed(newName())], ["update", keyed("there"), "Merge"]])],
};

export const covers = (letters, needed) => [...needed].every((letter) => letters.includes(letter));
